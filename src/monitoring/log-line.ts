import { cutText } from '../json/cut-text.ts';
/** Maximum characters of a log line; what a client or partner sends may be longer than that. */
export const lineCharactersMax = 16_384;

// Maximum characters of a text, and members of a list, in a line that is too long as a whole.
const textCharactersMax = 1_000;
const listMembersMax = 100;

// The members of every line that say when it was written and what it is about.
const essential = new Set(['level', 'time', 'pid', 'hostname', 'account', 'msg']);

/**
 * A line of JSON as it is written: one of more than `lineCharactersMax` has its long texts and lists cut and
 * `cut` set; pure. It ends in a line break as before.
 */
export function boundLine(line: string): string {
  if (line.length <= lineCharactersMax) return line;
  const fields = shorten(JSON.parse(line)) as Record<string, unknown>;
  const shortened = toLine({ ...fields, cut: true });
  if (shortened.length <= lineCharactersMax) return shortened;
  const kept = Object.entries(fields).filter(([name]) => essential.has(name));
  return toLine({ ...Object.fromEntries(kept), cut: true });
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > textCharactersMax ? `${cutText(value, textCharactersMax)}…`.toWellFormed() : value;
  if (Array.isArray(value)) return value.slice(0, listMembersMax).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shorten(member)]));
}

function toLine(fields: object): string {
  return `${JSON.stringify(fields)}\n`;
}
