import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiTiming } from '../deps.ts';
import { answerExpectation } from '../server/http-rules.ts';
import { httpTimes } from '../server/http-times.ts';

// Maximum number of requests of a connection without a response: one is at work, the others wait.
const unansweredMax = 8;
// Maximum number of pieces of a body without a length: its chunks, those cut where a part ends counted twice.
const piecesMax = 500;
// Bytes that are parsed before the connection is looked at again. A read of 64 KiB holds thousands of small
// requests or chunks, and Node parses all of them in one turn of the event loop.
const partBytes = 1_024;

/** The code of the error of a body that comes in too many pieces. */
export const tooManyPieces = 'ERR_TOO_MANY_PIECES';

/**
 * An HTTP server that does not listen yet. It destroys a connection with too many requests without a
 * response, and ends one whose response did not need the rest of the request. A body in too many pieces is a
 * `clientError`.
 */
export function createBoundedServer(timing: Partial<ApiTiming>, handler: RequestListener): Server {
  const { options, server: times } = httpTimes(timing);
  const unanswered = new WeakMap<Socket, ServerResponse[]>();

  const bounded = (listener: RequestListener): RequestListener => {
    return (request, response) => {
      const { socket } = request;
      const before = unanswered.get(socket)?.filter(({ writableFinished }) => !writableFinished) ?? [];
      if (before.length >= unansweredMax) socket.destroy();
      if (socket.destroyed) return;
      unanswered.set(socket, [...before, response]);
      response.once('finish', () => {
        if (!request.complete) socket.destroySoon();
      });
      if (request.headers['transfer-encoding'] !== undefined) countPieces(server, request);
      listener(request, response);
    };
  };

  const server = createServer(options, bounded(handler));
  server.on('checkExpectation', bounded(answerExpectation));
  server.on('connection', readInParts);
  return Object.assign(server, times);
}

// Node's own listener parses all that a read has brought.
function readInParts(socket: Socket): void {
  const [parse] = socket.listeners('data');
  if (parse === undefined) return;
  socket.off('data', parse as () => void);
  socket.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += partBytes) {
      if (!socket.writable) return socket.destroySoon(); // its last response is written
      if (socket.isPaused()) return socket.unshift(bytes.subarray(at));
      parse(bytes.subarray(at, at + partBytes));
    }
  });
}

function countPieces(server: Server, request: IncomingMessage): void {
  const { socket } = request;
  const push = request.push.bind(request);
  let pieces = 0;
  request.push = (...piece) => {
    pieces += 1;
    if (pieces === piecesMax) {
      const error = Object.assign(new Error('the body comes in too many pieces'), { code: tooManyPieces });
      if (!server.emit('clientError', error, socket)) socket.destroy();
    }
    return push(...piece);
  };
}
