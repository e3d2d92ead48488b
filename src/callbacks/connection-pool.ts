import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';

/**
 * Connections to receivers. Each serves one request at a time and is kept for the next one to the same
 * origin.
 */
export interface ConnectionPool {
  /**
   * Sends on the connection that became free last, or on a new one. The cost does not depend on the number of
   * busy connections: one host may have thousands of subscriptions that all hang.
   */
  dispatch(request: PooledRequest, handler: Dispatcher.DispatchHandler): void;
  /** Sends on a new connection, even when another one is free. */
  dial(request: PooledRequest, handler: Dispatcher.DispatchHandler): void;
  /** Ends all connections at once; requests in flight, and later ones, fail with `UND_ERR_DESTROYED`. */
  destroy(): Promise<void>;
}

/** A request to an origin. A connection that is made for it is made for this account. */
export type PooledRequest = Dispatcher.DispatchOptions & {
  readonly origin: string;
  readonly account: string;
};

/**
 * A pool without connections. `optionsFor` gives those of a connection for an account; `freeMax` is the
 * maximum number of free ones.
 */
export function createConnectionPool(
  optionsFor: (account: string) => Client.Options,
  freeMax: number,
): ConnectionPool {
  const connections = new Set<Client>();
  const free = createFreeConnections();
  let destroyed = false;

  function connectionTo({ origin, account }: PooledRequest): Client {
    const connection = new Client(origin, optionsFor(account));
    if (destroyed) void connection.destroy();
    else connections.add(connection);
    let open = true;
    const forget = () => connections.delete(connection);
    const retire = (): void => {
      if (!open) return;
      open = false;
      free.remove(origin, connection);
      // A request dispatched to a closing connection is still sent, over a new socket that is not kept.
      connection.close().then(forget, forget);
    };
    connection.on('drain', () => {
      if (free.count() >= freeMax) retire();
      else if (open) free.push(origin, connection);
    });
    connection.on('disconnect', retire);
    connection.on('connectionError', retire);
    return connection;
  }

  return {
    dispatch(request, handler) {
      const connection = free.pop(request.origin) ?? connectionTo(request);
      connection.dispatch(request, handler);
    },
    dial: (request, handler) => void connectionTo(request).dispatch({ ...request, reset: true }, handler),
    async destroy() {
      destroyed = true;
      await Promise.all([...connections].map((connection) => connection.destroy()));
    },
  };
}

interface FreeConnections {
  push(origin: string, connection: Client): void;
  pop(origin: string): Client | undefined;
  remove(origin: string, connection: Client): void;
  count(): number;
}

// The connection that became free last goes first: receivers close those that have been idle for long.
function createFreeConnections(): FreeConnections {
  const stacks = new Map<string, Client[]>();
  let count = 0;
  return {
    push(origin, connection) {
      count += 1;
      const stack = stacks.get(origin);
      if (stack === undefined) stacks.set(origin, [connection]);
      else stack.push(connection);
    },
    pop(origin) {
      const connection = stacks.get(origin)?.pop();
      if (connection !== undefined) count -= 1;
      return connection;
    },
    remove(origin, connection) {
      const stack = stacks.get(origin) ?? [];
      const at = stack.lastIndexOf(connection);
      if (at !== -1) count -= stack.splice(at, 1).length;
      if (stack.length === 0) stacks.delete(origin);
    },
    count: () => count,
  };
}

/** Remembers which sockets of a client were used before. */
export interface SocketWatch {
  /** Watches a socket that has just been connected. */
  readonly add: (socket: Socket) => void;
  /** Whether an error comes from a socket that had received an earlier response. */
  wasReused(error: Error): boolean;
}

/** A watch without sockets. */
export function createSocketWatch(): SocketWatch {
  const ofReused = new WeakSet<Error>();
  return {
    add(socket) {
      // Bytes on the wire do not count: over TLS they include tickets and alerts.
      let hasBrought = false;
      socket.once('readable', () => {
        hasBrought = socket.readableLength > 0;
      });
      socket.once('error', (error: Error) => {
        if (hasBrought) ofReused.add(error);
      });
    },
    wasReused: (error) => ofReused.has(error),
  };
}
