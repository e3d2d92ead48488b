import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { Socket } from 'node:net';
import { defaultTiming, type ApiTiming } from '../deps.ts';
import { followConnections } from './connections.ts';
import { answerExpectation } from './http-rules.ts';

// Maximum number of requests of a connection without a response: one is at work, the others wait.
const unansweredMax = 8;
// Maximum number of pieces of a body without a length: its chunks; one cut at the end of a part counts twice.
const piecesMax = 500;
// Bytes that are parsed before the connection is looked at again. A read of 64 KiB holds thousands of small
// requests or chunks, and Node parses all of them in one turn of the event loop.
const partBytes = 1_024;
// Milliseconds between two checks for late requests, short enough that few are ended at once.
const checkConnectionsMs = 30;
const keepAliveMs = 72_000;

/** The code of the error of a body that comes in too many pieces. */
export const tooManyPieces = 'ERR_TOO_MANY_PIECES';

/**
 * Milliseconds for the response of a call that waits for a receiver: more than the maximum of
 * DELIVERY_TIMEOUT_MS, so the callback's own deadline applies.
 */
export const callMs = 11 * 60_000;

/**
 * Keeps the connection of such a call open: it has no traffic until the receiver has responded. Injected
 * requests have none.
 */
export function keepOpen(socket: unknown): void {
  if (socket instanceof Socket) socket.setTimeout(callMs);
}

/**
 * An HTTP server that does not listen yet, and its open connections. Its times are Node's own limits. Two
 * attacks need more: thousands of pipelined requests in one read, and bodies in chunks of one byte. It
 * destroys a connection with more than eight requests without a response; a body in too many pieces is a
 * `clientError`. A connection ends after a response that did not need the rest of its request.
 */
export function createBoundedServer(timing: Partial<ApiTiming>, answer?: RequestListener) {
  const { idleMs, requestMs } = { ...defaultTiming, ...timing };
  let current = answer;

  const bounded = (listener: () => RequestListener | undefined): RequestListener => {
    return (request, response) => {
      const { socket } = request;
      const connection = connections.get(socket);
      if (connection === undefined || connection.answers.size > unansweredMax) socket.destroy();
      if (socket.destroyed) return;
      response.once('finish', () => {
        if (!request.complete) socket.destroySoon();
      });
      if (request.headers['transfer-encoding'] !== undefined) countPieces(server, request);
      listener()?.(request, response);
    };
  };

  const server = createServer({
    // A hook answers a request without a host, because Node's own response is no problem+json.
    requireHostHeader: false,
    // Node does not hold bodies to `requestTimeout` while `headersTimeout`, a minute by default, is longer.
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    connectionsCheckingInterval: Math.min(checkConnectionsMs, requestMs),
    keepAliveTimeout: keepAliveMs,
  });
  server.timeout = idleMs;
  const connections = followConnections(server);
  server.on(
    'request',
    bounded(() => current),
  );
  server.on(
    'checkExpectation',
    bounded(() => answerExpectation),
  );
  server.on('connection', readInParts);
  return {
    server,
    connections,
    /** Gives requests to this listener from now on, also those on open connections; returns the server. */
    enter(listener: RequestListener): Server {
      current = listener;
      return server;
    },
  };
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
