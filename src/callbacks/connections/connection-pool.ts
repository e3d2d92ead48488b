import { Client, type Dispatcher } from 'undici';
import type { Dialled } from '../../names/dial.ts';
import type { ConnectionIdentity } from '../tls/identity.ts';
import type { CallbackConnector } from './connector.ts';
import { createResponseHeads } from './response-heads.ts';

/**
 * Connections to receivers. Each serves one request at a time and is kept for the next one to the same
 * origin with the same identity.
 */
export interface ConnectionPool {
  /**
   * Sends on the connection that became free last, or on a new one. The cost does not depend on the number of
   * busy connections: one host may have thousands of subscriptions that all hang.
   */
  dispatch(request: PooledRequest, handler: Dispatcher.DispatchHandler): void;
  /** Whether `dispatch` would send on a connection that is there. */
  hasFree(request: PooledRequest): boolean;
  /** Sends on a new connection, even when another one is free. */
  dial(request: PooledRequest, handler: Dispatcher.DispatchHandler): void;
  /** Whether an error comes from a connection that had received an earlier response. */
  wasReused(error: Error): boolean;
  /** Ends all connections at once; requests in flight, and later ones, fail with `UND_ERR_DESTROYED`. */
  destroy(): Promise<void>;
}

/**
 * A request to an origin. A connection that is made for it is made for this account. One with an identity
 * goes only over connections that were made for this account and identity.
 */
export type PooledRequest = Dispatcher.DispatchOptions & {
  readonly origin: string;
  readonly account: string;
  readonly identity?: ConnectionIdentity | undefined;
  /** Called once, when its connection is open or cannot be opened; at once where one was free. */
  readonly onConnected?: (() => void) | undefined;
  /** Gets the addresses that are tried for its connection. */
  readonly dialled: Dialled[];
};

export interface ConnectionPoolDeps {
  readonly options: Client.Options;
  /** Opens the connections of an account with an identity. */
  readonly connectorFor: (account: string, identity: ConnectionIdentity | undefined) => CallbackConnector;
  /** Maximum number of free connections. */
  readonly freeMax: number;
  /** Removes who waits for a connection to a place; it dispatches at once when it is called. */
  readonly nextWaiting: (place: string) => (() => void) | undefined;
}

/** A pool without connections. */
export function createConnectionPool({
  options,
  connectorFor,
  freeMax,
  nextWaiting,
}: ConnectionPoolDeps): ConnectionPool {
  const connections = new Set<Client>();
  const free = createFreeConnections();
  const ofReused = new WeakSet<Error>();
  let destroyed = false;

  function connectionTo(request: PooledRequest): Client {
    const heads = createResponseHeads((error) => ofReused.add(error));
    const connector = connectorFor(request.account, request.identity);
    const connection = new Client(request.origin, {
      ...options,
      connect: (target, callback) =>
        connector(
          target,
          (...opened) => {
            const [error, socket] = opened;
            if (error === null) heads.follow(socket);
            callback(...opened);
          },
          request.dialled,
        ),
    });
    const place = placeOf(request);
    if (destroyed) void connection.destroy();
    else connections.add(connection);
    let open = true;
    const forget = () => connections.delete(connection);
    const retire = (): void => {
      if (!open) return;
      open = false;
      free.remove(place, connection);
      // A request dispatched to a closing connection is still sent, over a new socket that is not kept.
      connection.close().then(forget, forget);
    };
    connection.on('drain', () => {
      heads.next();
      if (!open) return;
      const begin = nextWaiting(place);
      if (begin === undefined && free.count() >= freeMax) retire();
      else free.push(place, connection);
      begin?.();
    });
    connection.on('disconnect', retire);
    connection.on('connectionError', retire);
    const { onConnected } = request;
    if (onConnected !== undefined) {
      let isConnected = false;
      const connected = (): void => {
        if (!isConnected) onConnected();
        isConnected = true;
      };
      connection.once('connect', connected);
      connection.once('connectionError', connected);
      connection.once('disconnect', connected);
    }
    return connection;
  }

  return {
    dispatch(request, handler) {
      const kept = free.pop(placeOf(request));
      if (kept !== undefined) request.onConnected?.();
      (kept ?? connectionTo(request)).dispatch(request, handler);
    },
    hasFree: (request) => free.has(placeOf(request)),
    dial: (request, handler) => void connectionTo(request).dispatch({ ...request, reset: true }, handler),
    wasReused: (error) => ofReused.has(error),
    async destroy() {
      destroyed = true;
      await Promise.all([...connections].map((connection) => connection.destroy()));
    },
  };
}

/**
 * A key that all requests have which may use the same connection. With an identity it is one that no plain
 * origin is.
 */
export function placeOf({ origin, account, identity }: PooledRequest): string {
  return identity === undefined ? origin : `${identity.digest} ${account} ${origin}`;
}

interface FreeConnections {
  push(place: string, connection: Client): void;
  pop(place: string): Client | undefined;
  has(place: string): boolean;
  remove(place: string, connection: Client): void;
  count(): number;
}

// The connection that became free last goes first: receivers close those that have been idle for long.
function createFreeConnections(): FreeConnections {
  const stacks = new Map<string, Client[]>();
  let count = 0;
  return {
    push(place, connection) {
      count += 1;
      const stack = stacks.get(place);
      if (stack === undefined) stacks.set(place, [connection]);
      else stack.push(connection);
    },
    pop(place) {
      const connection = stacks.get(place)?.pop();
      if (connection !== undefined) count -= 1;
      return connection;
    },
    remove(place, connection) {
      const stack = stacks.get(place) ?? [];
      const at = stack.lastIndexOf(connection);
      if (at !== -1) count -= stack.splice(at, 1).length;
      if (stack.length === 0) stacks.delete(place);
    },
    has: (place) => (stacks.get(place)?.length ?? 0) > 0,
    count: () => count,
  };
}
