import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { callerOf } from '../access/auth.ts';
import { defaultLimits } from '../access/limits.ts';
import { defaultTiming, type ApiDeps, type Api } from '../deps.ts';

/** An open connection. */
export interface Connection {
  /** The responses in flight. */
  readonly answers: Set<ServerResponse>;
  /** Whether the operator's token was valid here. */
  isOperators: boolean;
  /** Bytes that the client has taken, and the milliseconds since when it has taken no more. */
  taken: number;
  since: number;
}

/** The open connections of a server by socket, in the order of their last activity, the most recent last. */
export type OpenConnections = Map<Socket, Connection>;

// Minimum number of bytes that a client takes in a second: 32 kbit/s.
const paceBytes = 4_096;
// Maximum bytes in memory that wait for the clients of a server to take them.
const heldBytesMax = 128 * 1024 * 1024;
// Milliseconds for which a client is waited for before it makes way for others' answers.
const heldMs = 1_000;
// Milliseconds between two looks.
const lookMs = 1_000;
// Maximum number of connections that are looked at to make room for one more.
const looksMax = 1_000;
// Milliseconds for the rest of a request or of a response when the API closes.
const underWayMs = 1_000;
// Minimum milliseconds between two log lines: a flood cuts thousands of connections a second.
const againMs = 60_000;

/** Follows the connections of a server from beginning to end. */
export function followConnections(server: Server): OpenConnections {
  const connections: OpenConnections = new Map();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { answers: new Set(), isOperators: false, taken: 0, since: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  const follow = ({ socket }: IncomingMessage, response: ServerResponse) => {
    toEnd(connections, socket);
    connections.get(socket)?.answers.add(response);
    response.once('close', () => {
      toEnd(connections, socket);
      connections.get(socket)?.answers.delete(response);
    });
  };
  server.on('request', follow);
  server.on('checkExpectation', follow);
  return connections;
}

function toEnd(connections: OpenConnections, socket: Socket): void {
  const connection = connections.get(socket);
  if (connection !== undefined && connections.delete(socket)) connections.set(socket, connection);
}

/**
 * Limits the connections of an instance, ends those whose answers are not taken, and ends all of them when it
 * closes.
 */
export function careForConnections(
  app: Api,
  connections: OpenConnections,
  { timing, limits }: Pick<ApiDeps, 'timing' | 'limits'>,
): void {
  const { connections: max } = { ...defaultLimits, ...limits };
  const { unreadMs } = { ...defaultTiming, ...timing };
  app.addHook('preValidation', async (request) => {
    const connection = connections.get(request.raw.socket);
    if (connection !== undefined) connection.isOperators = callerOf(request)?.kind === 'operator';
  });
  const onCut = nowAndThen((cut) => app.log.warn({ connections: max, cut }, 'http.connections_full'));
  app.server.on('connection', (newest: Socket) => {
    if (connections.size <= max) return;
    const cut = longestWaiting(connections, newest) ?? newest;
    connections.delete(cut);
    cut.destroy();
    onCut();
  });
  const onEnd = nowAndThen((ended) => app.log.info({ ended }, 'http.answers_not_taken'));
  const timer = setInterval(
    () => {
      for (const socket of untaken(connections, unreadMs, performance.now())) {
        socket.destroy();
        onEnd();
      }
    },
    Math.min(lookMs, unreadMs / 4),
  ).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  endOnClose(app, connections);
}

/**
 * The connection to close for the newest one: the one whose client has taken longest to send a whole request,
 * else one that does not take its answer, else an idle one of the operator; null if there is none. Requests
 * being handled and streams stay.
 */
export function longestWaiting(connections: OpenConnections, newest: Socket): Socket | null {
  let looks = looksMax;
  let unread: Socket | null = null;
  let operators: Socket | null = null;
  for (const [socket, { answers, isOperators }] of connections) {
    if (looks === 0 || socket === newest) break;
    looks -= 1;
    const isWorkedOn = [...answers].some(({ req }) => req.complete);
    if (!isWorkedOn && !isOperators) return socket;
    if (!isWorkedOn) operators ??= socket;
    else if (socket.writableLength > 0) unread ??= socket;
    // The next search begins behind it.
    toEnd(connections, socket);
  }
  return unread ?? operators;
}

/**
 * The connections whose clients are too slow to take their answers, and those that have been waited for
 * longest while all answers hold more memory than they may. One that takes nothing at all is ended by Node,
 * after `idleMs`.
 */
export function untaken(connections: OpenConnections, unreadMs: number, now: number): Socket[] {
  const waiting: { readonly socket: Socket; readonly bytes: number; readonly waitedMs: number }[] = [];
  for (const [socket, connection] of connections) {
    const taken = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength === 0 || taken !== connection.taken)
      Object.assign(connection, { taken, since: now });
    let bytes = 0;
    for (const response of connection.answers) bytes += response.writableLength;
    if (bytes > 0) waiting.push({ socket, bytes, waitedMs: now - connection.since });
  }
  let held = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  return waiting
    .toSorted((a, b) => b.waitedMs - a.waitedMs)
    .filter(({ socket, bytes, waitedMs }) => {
      const isLate = waitedMs > unreadMs + (socket.writableLength / paceBytes) * 1_000;
      if (!isLate && (held <= heldBytesMax || waitedMs < heldMs)) return false;
      held -= bytes;
      return true;
    })
    .map(({ socket }) => socket);
}

/**
 * Makes `close` close connections too; Node would wait for them. Idle ones close at once. After one second,
 * those with an incomplete request or an unread response close too. Responses in flight are sent, with
 * `connection: close` (RFC 9112 §9.6).
 */
function endOnClose(app: Api, connections: OpenConnections): void {
  const cut = (isOver: (response: ServerResponse) => boolean) => {
    for (const [socket, { answers }] of connections) if ([...answers].every(isOver)) socket.destroy();
  };
  app.addHook('preClose', async () => {
    for (const [socket, { answers }] of connections)
      for (const response of answers) {
        if (!response.headersSent) response.setHeader('connection', 'close');
        response.once('close', () => socket.end());
      }
    cut(() => false);
    setTimeout(() => cut(({ headersSent, req }) => headersSent || !req.complete), underWayMs).unref();
  });
}

// Reports at once, and then at most once a minute, how often it was called since.
function nowAndThen(report: (times: number) => void): () => void {
  let reportedAt = -Infinity;
  let times = 0;
  return () => {
    times += 1;
    if (performance.now() - reportedAt < againMs) return;
    reportedAt = performance.now();
    report(times);
    times = 0;
  };
}
