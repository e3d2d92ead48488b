/**
 * Receives the structural bytes of a JSON text, those within strings left out, with their index and their
 * depth: the number of open objects and arrays, the one included that the byte opens or closes.
 */
export type OnStructure = (byte: number, at: number, depth: number) => void;

/** A passage over the bytes of a JSON text (RFC 8259) that builds nothing. */
export interface JsonWalk {
  /** Goes on over `bytes` from the index `from` to before `to`. Throws what `onStructure` throws. */
  push(bytes: Buffer, from: number, to: number): void;
  /**
   * The commas and opening brackets since the last call, which are as many as the values but one, and the
   * highest depth. Only the walk over the text up to now counts.
   */
  take(): WalkedPart;
  /** Number of objects and arrays that are open; negative where more were closed than opened. */
  depth(): number;
}

/** The counts of a walk over a part of the text. */
export interface WalkedPart {
  readonly marks: number;
  readonly deepest: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

const opens = 1;
const closes = 2;
const separates = 3;
const quotes = 4;
const kinds = new Uint8Array(256);
for (const character of '{[') kinds[character.charCodeAt(0)] = opens;
for (const character of '}]') kinds[character.charCodeAt(0)] = closes;
for (const character of ',:') kinds[character.charCodeAt(0)] = separates;
kinds[quote] = quotes;

/**
 * A walk from the beginning of a text. `onStructure` is called for what lies up to `levels` deep. The kinds
 * of brackets are not compared: the text is not checked, only split.
 */
export function createJsonWalk(levels: number, onStructure: OnStructure): JsonWalk {
  let depth = 0;
  let deepest = 0;
  let marks = 0;
  let isInString = false;
  // Number of bytes at the beginning of the next piece that belong to an escape.
  let escaped = 0;

  // Variables of the function are several times as fast here as those around it.
  function walkPiece(piece: Buffer, from: number): void {
    const strings = createStringEnds(piece);
    const { length } = piece;
    let at = 0;
    if (isInString) at = leaveString(strings.endFrom(escaped), length);
    let [open, met] = [depth, marks];
    while (at < length) {
      const byte = piece[at] ?? 0;
      const kind = kinds[byte];
      at += 1;
      if (kind === 0) continue;
      if (kind === quotes) {
        isInString = true;
        at = leaveString(strings.endFrom(at), length);
        continue;
      }
      if (kind === opens) {
        open += 1;
        met += 1;
        if (open > deepest) deepest = open;
      } else if (byte === comma) met += 1;
      if (open <= levels) {
        marks = met;
        depth = open;
        onStructure(byte, from + at - 1, open);
        met = marks;
      }
      if (kind === closes) open -= 1;
    }
    [depth, marks] = [open, met];
  }

  // The index behind the string, or behind the piece in which it does not end.
  function leaveString(end: number, length: number): number {
    escaped = Math.max(0, end - length);
    isInString = end >= length;
    return end + 1;
  }

  return {
    push: (bytes, from, to) => walkPiece(bytes.subarray(from, to), from),
    take() {
      const part = { marks, deepest };
      marks = 0;
      deepest = depth;
      return part;
    },
    depth: () => depth,
  };
}

// Strings are looked through byte by byte up to this length. Behind it the search is the system's, which is
// much faster, but takes as long as these bytes to begin.
const nearBytes = 64;

/**
 * Finds the ends of strings in a piece of a text: the index of the closing quote that follows. Beyond the
 * piece where it does not end in it, by one more where an escape does not either.
 */
function createStringEnds(piece: Buffer): { endFrom(at: number): number } {
  const { length } = piece;
  let nextQuote = -1;
  let nextBackslash = -1;

  const find = (byte: number, from: number): number => {
    const found = piece.indexOf(byte, from);
    return found < 0 ? length : found;
  };

  return {
    endFrom(from) {
      let at = from;
      while (at < length) {
        const near = Math.min(at + nearBytes, length);
        while (at < near) {
          const byte = piece[at];
          if (byte === quote) return at;
          at += byte === backslash ? 2 : 1;
        }
        if (at >= length) return at;
        if (nextQuote < at) nextQuote = find(quote, at);
        if (nextBackslash < at) nextBackslash = find(backslash, at);
        if (nextQuote <= nextBackslash) return nextQuote;
        at = nextBackslash;
      }
      return at;
    },
  };
}
