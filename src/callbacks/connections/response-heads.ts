import type { Socket } from 'node:net';
import { errors } from 'undici';

/** The beginnings of the responses of one connection, which are read before undici reads them. */
export interface ResponseHeads {
  /**
   * Follows the socket of the connection and leaves interim responses out of what is read from it. A client
   * has to pass over those that it does not expect (RFC 9110 §15.2), and undici takes a 100 for an error. A
   * 101 stays: nothing has asked for it. An error of undici's parser gets the `line` in which it was found.
   */
  follow(socket: Socket): void;
  /** The response has ended: what comes now begins another one. */
  next(): void;
}

// Maximum bytes that undici gets at once: beyond its maximum of headers it makes an error of each further
// one.
const pieceBytesMax = 2_048;

// Maximum bytes of the interim responses before one response.
const interimBytesMax = 65_536;

// Maximum characters of a line that are kept for an error.
const lineMax = 256;

const [lineFeed, carriageReturn, one, letterH] = [0x0a, 0x0d, 0x31, 0x48];
const interim = /^HTTP\/1\.\d 1(?!01)\d\d\D$/;
const example = 'HTTP/1.1 102 ';

/** `onBroken` is called with an error of a socket that has brought an earlier response and nothing since. */
export function createResponseHeads(onBroken: (error: Error) => void): ResponseHeads {
  let isReused = false;
  let hasBegun = false;
  let isPassed = false;
  let leftOut = 0;
  let held: Buffer = Buffer.alloc(0);
  // The bytes that undici has read last, and the line that they go on with.
  let given: Buffer | null = null;
  let line = '';

  /** The bytes that undici is to read; null for none yet. */
  function take(bytes: Buffer): Buffer | null {
    hasBegun = true;
    // The usual response is known by the first digit of its status.
    isPassed ||= held.length === 0 && bytes[0] === letterH && bytes.length > 9 && bytes[9] !== one;
    if (isPassed) return bytes;
    let rest = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    for (let end = 0; end !== -1; end = endOfHead(rest)) {
      leftOut += end;
      rest = rest.subarray(end);
      isPassed = rest.length > 0 && !interim.test(beginningOf(rest));
      if (isPassed) break;
    }
    held = isPassed ? Buffer.alloc(0) : rest;
    return isPassed ? rest : null;
  }

  // `data`, which the type of the error leaves out, is the rest of the bytes.
  function lineOf({ data = '' }: Error & { data?: string }): string {
    const text = line + (given?.toString() ?? '');
    const from = text.lastIndexOf('\n', Math.max(0, text.length - data.length - 1)) + 1;
    return /^[^\r\n]*/.exec(text.slice(from, from + lineMax))?.[0] ?? '';
  }

  return {
    follow(socket) {
      const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
      socket.read = () => {
        while (!socket.destroyed) {
          const bytes = read(Math.min(pieceBytesMax, socket.readableLength) || undefined);
          if (bytes === null) return null;
          const taken = take(bytes);
          if (leftOut + held.length > interimBytesMax)
            socket.destroy(
              new errors.HTTPParserError(`(more than ${interimBytesMax} bytes of 1xx responses)`),
            );
          if (taken === null) continue;
          if (given !== null) line = lastLineOf(line + given.toString());
          given = taken;
          return taken;
        }
        return null;
      };
      socket.once('error', (error: Error) => {
        if (error instanceof errors.HTTPParserError) Object.assign(error, { line: lineOf(error) });
        if (isReused && !hasBegun) onBroken(error);
      });
    },
    next() {
      isReused ||= hasBegun;
      hasBegun = isPassed = false;
      leftOut = 0;
      given = null;
      line = '';
    },
  };
}

function lastLineOf(text: string): string {
  return text.slice(text.lastIndexOf('\n') + 1).slice(0, lineMax);
}

// A text that may still become the beginning of an interim response is completed to one. Empty lines before
// it do not count (RFC 9112 §2.2).
function beginningOf(bytes: Buffer): string {
  let at = 0;
  while (bytes[at] === lineFeed || bytes[at] === carriageReturn) at += 1;
  const text = bytes.toString('latin1', at, at + example.length);
  return text + example.slice(text.length);
}

// -1 as long as it has not arrived.
function endOfHead(bytes: Buffer): number {
  let at = 0;
  while (bytes[at] === lineFeed || bytes[at] === carriageReturn) at += 1;
  for (at = bytes.indexOf(lineFeed, at); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    const next = bytes[at + 1] === carriageReturn ? at + 2 : at + 1;
    if (bytes[next] === lineFeed) return next + 1;
  }
  return -1;
}
