import { createJsonWalk, type WalkedPart } from './json-walk.ts';
import type { Turns } from './turns.ts';

/** Where a record lies, and what it holds. */
export interface RecordText extends WalkedPart {
  readonly bytes: Buffer;
}

/** Limits within which a record is parsed as a whole. */
export interface RecordLimits {
  readonly bytesMax: number;
  /** Maximum number of values in it. */
  readonly valuesMax: number;
}

/** Maximum number of values of a filing that is read as a whole: real ones have less than a hundred. */
export const valuesMax = 50_000;

const walkBytes = 64 * 1024;
// Maximum bytes of a key that is looked for, each character escaped.
const keyBytesMax = 128;

const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;

/** Whether a record is too large to be parsed as a whole. */
export function isHeavy({ bytes, marks }: RecordText, limits: RecordLimits): boolean {
  return bytes.length > limits.bytesMax || marks > limits.valuesMax;
}

/** Counts the values of a record that has not been walked over yet; gives others a turn meanwhile. */
export async function weigh(bytes: Buffer, turns: Turns): Promise<RecordText> {
  const walk = createJsonWalk(0, () => undefined);
  await walkInTurns(bytes, turns, walk);
  return { bytes, ...walk.take() };
}

/**
 * The members of a heavy record that have these names, as JSON, so that the rest is never parsed. `fields`
 * gives the maximum bytes of each value; a longer one stands as `false`, which no field takes. Null where the
 * record is no object. The rest of the record is split, not checked.
 */
export async function pickMembers(
  bytes: Buffer,
  fields: ReadonlyMap<string, number>,
  turns: Turns,
): Promise<string | null> {
  const members: string[] = [];
  let memberAt = -1;
  let valueAt = -1;
  let isObject = false;
  const walk = createJsonWalk(1, (byte, at) => {
    if (byte === colon && valueAt < 0) valueAt = at + 1;
    if (byte === openBrace) isObject = true;
    if (byte === comma || byte === closeBrace) {
      if (isObject && valueAt >= 0) members.push(...member(bytes, memberAt, valueAt, at, fields));
    }
    if (byte === comma || byte === openBrace) [memberAt, valueAt] = [at + 1, -1];
  });
  await walkInTurns(bytes, turns, walk);
  return isObject && bytes[firstByte(bytes)] === openBrace ? `{${members.join(',')}}` : null;
}

function member(
  bytes: Buffer,
  from: number,
  valueAt: number,
  to: number,
  fields: ReadonlyMap<string, number>,
): readonly string[] {
  let keyAt = from;
  while (keyAt < valueAt && (bytes[keyAt] ?? 0) <= space) keyAt += 1;
  if (valueAt - keyAt > keyBytesMax) return [];
  const key = parsedKey(bytes.toString('utf8', keyAt, valueAt - 1));
  const bytesMax = key === null ? undefined : fields.get(key);
  if (bytesMax === undefined) return [];
  const value = to - valueAt > bytesMax ? 'false' : bytes.toString('utf8', valueAt, to);
  return [`${JSON.stringify(key)}:${value}`];
}

function parsedKey(text: string): string | null {
  try {
    const key: unknown = JSON.parse(text);
    return typeof key === 'string' ? key : null;
  } catch {
    return null;
  }
}

function firstByte(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] ?? 0) <= space) at += 1;
  return at;
}

async function walkInTurns(
  bytes: Buffer,
  turns: Turns,
  walk: ReturnType<typeof createJsonWalk>,
): Promise<void> {
  for (let from = 0; from < bytes.length; from += walkBytes) {
    if (turns.isOver()) await turns.next();
    walk.push(bytes, from, Math.min(from + walkBytes, bytes.length));
  }
}
