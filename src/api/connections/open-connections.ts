import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerKind } from '../../http/answer-kind.ts';
import { bodiesAtOnceMax } from '../../events/event-log.ts';
import { addressKey } from '../access/rate-limit.ts';
import { lookAgain, takenFrom, type Unread } from './unread.ts';

/** An open connection. Times are milliseconds on the clock of `performance.now()`. */
export interface Connection {
  readonly socket: Socket;
  /** True for a trusted proxy's, which carries requests of many clients. */
  readonly isProxys: boolean;
  /** The key of the client's address; null on a proxy's connection between two requests. */
  address: string | null;
  /** The account of the latest token that was valid here; null before, and for the operator's. */
  account: string | null;
  /** When the operator's token was last valid here; -Infinity for never. */
  operatorAt: number;
  /** Responses in flight, with the time since which they are being sent; null before. */
  readonly answers: Map<ServerResponse, number | null>;
  /** When it was opened, or its latest request arrived or was answered. */
  activeAt: number;
  /** Null while nothing waits for the client to take it. */
  unread: Unread | null;
}

/** The open connections of a server by socket, by last activity, the most recent last. */
export type OpenConnections = Map<Socket, Connection>;

/**
 * Follows the connections of a server from beginning to end; `open` are the ones that exist already.
 * `isProxy` says whether an address is a trusted proxy's.
 */
export function followConnections(
  server: Server,
  isProxy: (address: string) => boolean = () => false,
  open: Iterable<Socket> = [],
): OpenConnections {
  const connections: OpenConnections = new Map();
  const toEnd = (socket: Socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.activeAt = performance.now();
    if (connections.delete(socket)) connections.set(socket, connection);
  };
  const follow = (socket: Socket) => {
    connections.set(socket, begin(socket, isProxy(socket.remoteAddress ?? '')));
    socket.once('close', () => connections.delete(socket));
  };
  for (const socket of open) follow(socket);
  server.on('connection', follow);
  server.on('request', ({ socket }, response) => {
    connections.get(socket)?.answers.set(response, null);
    toEnd(socket);
    response.once('close', () => {
      const connection = connections.get(socket);
      connection?.answers.delete(response);
      if (connection?.isProxys === true && connection.answers.size === 0) forgetClient(connection);
      toEnd(socket);
    });
  });
  return connections;
}

function begin(socket: Socket, isProxys: boolean): Connection {
  return {
    socket,
    isProxys,
    address: isProxys ? null : addressKey(socket.remoteAddress ?? ''),
    account: null,
    operatorAt: -Infinity,
    answers: new Map(),
    activeAt: performance.now(),
    unread: null,
  };
}

function forgetClient(connection: Connection): void {
  Object.assign(connection, { address: null, account: null, operatorAt: -Infinity });
}

/** Whether a whole request has arrived on a connection and is not answered yet. */
export function hasWholeRequest({ answers }: Connection): boolean {
  for (const { req } of answers.keys()) if (req.complete) return true;
  return false;
}

/** Whether a stream of events is being sent. */
export function isStream({ answers }: Connection): boolean {
  for (const response of answers.keys()) if (answerKind(response) === 'stream') return true;
  return false;
}

/** Looks at how the client takes what was sent to it; `unread` is up to date then. */
export function lookAt(connection: Connection, now: number): void {
  const { socket, answers, unread } = connection;
  connection.unread = answers.size === 0 ? null : lookAgain(unread, { ...takenFrom(socket), at: now });
}

/** Bytes of memory that wait for a client to take them; shared ones do not count. */
export function heldBytes({ socket, answers }: Connection): number {
  let bytes = 0;
  for (const response of answers.keys()) {
    const kind = answerKind(response);
    if (kind === 'shared') continue;
    bytes += response.writableLength;
    // A stream that waits holds the events that come next as well.
    if (kind === 'stream' && socket.writableLength > 0) bytes += bodiesAtOnceMax;
  }
  return bytes;
}
