import type { Socket } from 'node:net';
import { errors } from 'undici';

// Maximum bytes that undici gets at once: beyond its maximum of headers it makes an error of each further
// one.
const pieceBytesMax = 2_048;
// Maximum bytes of the interim responses before one response.
const interimBytesMax = 65_536;

const interim = /^HTTP\/1\.\d 1(?!01)\d\d\D$/;
const example = 'HTTP/1.1 102 ';

/**
 * Leaves interim responses out of what undici reads from a socket: a client has to pass over those that it
 * does not expect (RFC 9110 §15.2), and undici takes a 100 for an error. A 101 stays, since nothing has asked
 * for it. Calls of the returned function begin another response.
 */
export function leaveOutInterim(socket: Socket): () => void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  // The response has begun; until then, the beginning that has arrived.
  let isPassed = false;
  let held = '';
  let bytesRead = 0;

  socket.read = () => {
    while (!socket.destroyed) {
      const bytes = read(Math.min(pieceBytesMax, socket.readableLength) || undefined);
      if (bytes === null || isPassed) return bytes;
      bytesRead += bytes.length;
      held = withoutInterim(held + bytes.toString('latin1'));
      isPassed = !mayBeInterim(held);
      if (isPassed) return Buffer.from(held, 'latin1');
      if (bytesRead > interimBytesMax)
        socket.destroy(new errors.HTTPParserError(`(more than ${interimBytesMax} bytes of 1xx responses)`));
    }
    return null;
  };
  return () => {
    isPassed = false;
    held = '';
    bytesRead = 0;
  };
}

function withoutInterim(text: string): string {
  let rest = text;
  for (;;) {
    // Empty lines before a response do not count (RFC 9112 §2.2).
    rest = rest.replace(/^[\r\n]+/, '');
    const end = mayBeInterim(rest) ? /\n\r?\n/.exec(rest) : null;
    if (end === null) return rest;
    rest = rest.slice(end.index + end[0].length);
  }
}

// A partial text is completed with an example, as it may still grow into an interim response.
function mayBeInterim(text: string): boolean {
  return interim.test(text.slice(0, example.length) + example.slice(text.length));
}
