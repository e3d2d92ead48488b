import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Api } from './api-instance.ts';

/**
 * The open connections of a server with the responses in flight on each, by last activity, the most recent
 * last.
 */
export type OpenConnections = Map<Socket, Set<ServerResponse>>;

/** Follows the connections of a server from beginning to end; `open` are the ones that exist already. */
export function followConnections(server: Server, open: Iterable<Socket> = []): OpenConnections {
  const connections: OpenConnections = new Map();
  const toEnd = (socket: Socket) => {
    const responses = connections.get(socket);
    if (responses !== undefined && connections.delete(socket)) connections.set(socket, responses);
  };
  const follow = (socket: Socket) => {
    connections.set(socket, new Set());
    socket.once('close', () => connections.delete(socket));
  };
  for (const socket of open) follow(socket);
  server.on('connection', follow);
  server.on('request', ({ socket }, response) => {
    connections.get(socket)?.add(response);
    toEnd(socket);
    response.once('close', () => {
      connections.get(socket)?.delete(response);
      toEnd(socket);
    });
  });
  return connections;
}

/**
 * Keeps at most `max` connections open. One more cuts the connection that has gone longest without a whole
 * request, so clients that send slowly or nothing make way for clients with a request. Requests being
 * answered and streams stay; if there is nothing else, the new connection is cut.
 */
export function limitConnections(
  server: Server,
  connections: OpenConnections,
  max: number,
  onCut: () => void,
): void {
  server.on('connection', () => {
    if (connections.size <= max) return;
    const idle = longestWaiting(connections);
    if (idle === null) return;
    connections.delete(idle);
    idle.destroy();
    onCut();
  });
}

// The candidates include the newest connection, on which nothing can have arrived yet.
function longestWaiting(connections: OpenConnections): Socket | null {
  for (const socket of connections.keys()) {
    if (!hasWholeRequest(connections, socket)) return socket;
  }
  return null;
}

/** Whether a whole request has arrived on a connection and is not answered yet. */
export function hasWholeRequest(connections: OpenConnections, socket: Socket): boolean {
  return [...(connections.get(socket) ?? [])].some(({ req }) => req.complete);
}

/** Answers a connection from which no request could be read, and closes it. */
type AnswerBroken = (error: Error & { code?: string }, socket: Socket) => void;

// Milliseconds of each turn of the event loop that late requests may take.
const turnMs = 5;

/**
 * Answers broken connections at once, and late requests a few milliseconds in each turn of the event loop:
 * slow clients time out by the thousand, and other requests would wait for the last of them. A request that
 * is complete when its turn comes is left to its handler.
 */
export function endLateInTurns(answer: AnswerBroken, isWhole: (socket: Socket) => boolean): AnswerBroken {
  const late = new Map<Socket, Error>();

  function endSome(): void {
    const until = performance.now() + turnMs;
    for (const [socket, error] of late) {
      late.delete(socket);
      if (!isWhole(socket)) answer(error, socket);
      if (performance.now() > until) break;
    }
    if (late.size > 0) setImmediate(endSome);
  }

  return (error, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
      answer(error, socket);
      return;
    }
    if (late.size === 0) setImmediate(endSome);
    late.set(socket, error);
  };
}

// Milliseconds for the rest of a request or of a response when the API closes.
const underWayMs = 1_000;

/**
 * Makes `close` close connections too; Node would wait for them. Idle ones close at once. After one second,
 * those with an incomplete request or an unread response close too. Responses in flight are sent, with
 * `connection: close` (RFC 9112 §9.6).
 */
export function endConnectionsOnClose(app: Api, connections: OpenConnections): void {
  let closing = false;

  function cut(isOver: (response: ServerResponse) => boolean): void {
    for (const [socket, responses] of connections) {
      if ([...responses].every(isOver)) socket.destroy();
    }
  }

  app.server.on('request', ({ socket }, response: ServerResponse) => {
    response.once('close', () => {
      if (closing) socket.end();
    });
  });

  app.addHook('preClose', async () => {
    closing = true;
    for (const response of [...connections.values()].flatMap((responses) => [...responses])) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    cut(() => false);
    setTimeout(() => cut(isStuck), underWayMs).unref();
  });
}

function isStuck({ headersSent, req }: ServerResponse): boolean {
  return headersSent || !req.complete;
}
