/**
 * Receives the structural bytes of a JSON text, those within strings left out, with their index and their
 * depth: the number of open objects and arrays, the one included that the byte opens or closes.
 */
export type OnStructure = (byte: number, at: number, depth: number) => void;

/** A passage over the bytes of a JSON text (RFC 8259) that builds nothing. */
export interface JsonWalk {
  /** Goes on over `bytes` from the index `from` to before `to`. Throws what `onStructure` throws. */
  push(bytes: Uint8Array, from: number, to: number): void;
  /**
   * The commas and opening brackets since the last call, which are as many as the values but one, and the
   * highest depth. Only the walk over the text up to now counts.
   */
  take(): WalkedPart;
  /** Number of objects and arrays that are open; negative where more were closed than opened. */
  depth(): number;
}

/** What a walk has met in a part of the text. */
export interface WalkedPart {
  readonly marks: number;
  readonly deepest: number;
}

const quote = 0x22;
const backslash = 0x5c;
const opens = 1;
const closes = 2;
const separates = 3;

const kinds = new Uint8Array(256);
for (const character of '{[') kinds[character.charCodeAt(0)] = opens;
for (const character of '}]') kinds[character.charCodeAt(0)] = closes;
for (const character of ',:') kinds[character.charCodeAt(0)] = separates;

/**
 * A walk from the beginning of a text. `onStructure` is called for what lies up to `levels` deep. The kinds
 * of brackets are not compared: the text is not checked, only split.
 */
export function createJsonWalk(levels: number, onStructure: OnStructure): JsonWalk {
  let depth = 0;
  let deepest = 0;
  let marks = 0;
  let isInString = false;
  let isEscaped = false;

  // Walks through a string, and returns the index behind its end.
  function walkString(bytes: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at];
      if (isEscaped) isEscaped = false;
      else if (byte === quote) {
        isInString = false;
        return at + 1;
      } else if (byte === backslash) isEscaped = true;
    }
    return to;
  }

  function walkStructure(byte: number, at: number): void {
    const kind = kinds[byte];
    if (kind === opens) {
      depth += 1;
      marks += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === 0x2c) marks += 1;
    if (depth <= levels) onStructure(byte, at, depth);
    if (kind === closes) depth -= 1;
  }

  return {
    push(bytes, from, to) {
      let at = isInString ? walkString(bytes, from, to) : from;
      while (at < to) {
        const byte = bytes[at] ?? 0;
        if (byte === quote) {
          isInString = true;
          at = walkString(bytes, at + 1, to);
          continue;
        }
        if (kinds[byte] !== 0) walkStructure(byte, at);
        at += 1;
      }
    },
    take() {
      const part = { marks, deepest };
      marks = 0;
      deepest = depth;
      return part;
    },
    depth: () => depth,
  };
}
