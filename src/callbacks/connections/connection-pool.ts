import { Client, type Dispatcher } from 'undici';
import type { CallbackConnector, Opening } from './connector.ts';
import { leaveOutInterim } from './response-heads.ts';

/**
 * A request to an origin. A connection that is made for it is made for this account. One with an identity
 * goes only over connections that were made for this account and identity.
 */
export type PooledRequest = Dispatcher.DispatchOptions &
  Opening & {
    readonly origin: string;
    /** Called once, when its connection is open or cannot be opened; synchronously if one was free. */
    readonly onConnected?: (() => void) | undefined;
    /** Set by `dispatch`: whether it was sent on a kept connection. */
    isReused: boolean;
  };

export interface ConnectionPoolDeps {
  readonly options: Client.Options;
  readonly connector: CallbackConnector;
  /** Maximum number of free connections. */
  readonly freeMax: number;
}

/**
 * Connections to receivers, none at first. Each serves one request at a time and is kept for the next one to
 * the same origin with the same identity. Those of undici's own pool are for an origin alone, are searched
 * one by one and are all kept when they have no request.
 */
export function createConnectionPool({ options, connector, freeMax }: ConnectionPoolDeps) {
  const connections = new Set<Client>();
  // By place. The connection that became free last goes first: receivers close those that have been idle for
  // long.
  const free = new Map<string, Client[]>();
  let freeCount = 0;
  let destroyed = false;

  function pop(place: string): Client | undefined {
    const connection = free.get(place)?.pop();
    if (connection !== undefined) freeCount -= 1;
    return connection;
  }

  function push(place: string, connection: Client): void {
    freeCount += 1;
    const stack = free.get(place);
    if (stack === undefined) free.set(place, [connection]);
    else stack.push(connection);
  }

  function remove(place: string, connection: Client): void {
    const stack = free.get(place) ?? [];
    const at = stack.lastIndexOf(connection);
    if (at !== -1) freeCount -= stack.splice(at, 1).length;
    if (stack.length === 0) free.delete(place);
  }

  function connectionTo(request: PooledRequest): Client {
    let nextResponse: (() => void) | undefined;
    const connection = new Client(request.origin, {
      ...options,
      connect: (target, callback) =>
        connector(target, request, (...opened) => {
          const [error, socket] = opened;
          if (error === null) nextResponse = leaveOutInterim(socket);
          callback(...opened);
        }),
    });
    const place = placeOf(request);
    if (destroyed) void connection.destroy();
    else connections.add(connection);
    let open = true;
    const forget = () => connections.delete(connection);
    const retire = (): void => {
      if (!open) return;
      open = false;
      remove(place, connection);
      // A request dispatched to a closing connection is still sent, over a new socket that is not kept.
      connection.close().then(forget, forget);
    };
    connection.on('drain', () => {
      nextResponse?.();
      if (open && freeCount >= freeMax) retire();
      else if (open) push(place, connection);
    });
    let { onConnected: tell } = request;
    const onConnected = (): void => {
      tell?.();
      tell = undefined;
    };
    connection.once('connect', onConnected);
    connection.on('disconnect', retire).once('disconnect', onConnected);
    connection.on('connectionError', retire).once('connectionError', onConnected);
    return connection;
  }

  return {
    /** Sends on the connection that became free last, or on a new one. */
    dispatch(request: PooledRequest, handler: Dispatcher.DispatchHandler): void {
      const kept = pop(placeOf(request));
      request.isReused = kept !== undefined;
      if (kept !== undefined) request.onConnected?.();
      (kept ?? connectionTo(request)).dispatch(request, handler);
    },
    /** Whether `dispatch` would send on a connection that is there. */
    hasFree: (request: PooledRequest) => (free.get(placeOf(request))?.length ?? 0) > 0,
    /** Sends on a new connection, even when another one is free. */
    dial: (request: PooledRequest, handler: Dispatcher.DispatchHandler) =>
      void connectionTo(request).dispatch({ ...request, reset: true }, handler),
    /** Ends all connections at once; requests in flight, and later ones, fail with `UND_ERR_DESTROYED`. */
    async destroy(): Promise<void> {
      destroyed = true;
      await Promise.all([...connections].map((connection) => connection.destroy()));
    },
  };
}

// A key that all requests have which may use the same connection. With an identity it is one that no plain
// origin is.
function placeOf({ origin, account, identity }: PooledRequest): string {
  return identity === undefined ? origin : `${identity.digest} ${account} ${origin}`;
}
