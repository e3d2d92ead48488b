import { createJsonWalk, type JsonWalk } from './json-walk.ts';

// Maximum bytes of a key that is looked for, each character escaped.
const keyBytesMax = 128;

const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;

/** The choice of members of a JSON object, whose rest is never parsed. */
export interface MemberPicker {
  /** To be pushed over all of `bytes`. */
  readonly walk: JsonWalk;
  /**
   * The members with the names asked for, as JSON; null where the text is no object. The rest is split, not
   * checked.
   */
  picked(): string | null;
}

/**
 * Picks members of an object by their names. `fields` gives the maximum bytes of each value; a longer one
 * stands as `false`, which no field takes.
 */
export function createMemberPicker(bytes: Buffer, fields: ReadonlyMap<string, number>): MemberPicker {
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
  return {
    walk,
    picked: () => (isObject && bytes[firstByte(bytes)] === openBrace ? `{${members.join(',')}}` : null),
  };
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
