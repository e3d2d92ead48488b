import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The open connections of a server with the requests that are being answered on each; those on which
 * something was done last come last.
 */
export type OpenConnections = Map<Socket, Set<ServerResponse>>;

/**
 * Follows the connections of a server from their beginning to their end, beside new ones those that are
 * `open` already.
 */
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
 * Keeps at most `max` connections open: for one more, that one is cut on which no whole request has been
 * waiting for the longest time. So clients that send slowly, or nothing, make way for those that ask.
 * Requests being answered and streams stay; where there is nothing else, the new connection is cut.
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

// The newest, on which nothing can have come yet, is among them.
function longestWaiting(connections: OpenConnections): Socket | null {
  for (const socket of connections.keys()) {
    if (!hasWholeRequest(connections, socket)) return socket;
  }
  return null;
}

/** Whether a whole request has come on a connection that is not answered yet. */
export function hasWholeRequest(connections: OpenConnections, socket: Socket): boolean {
  return [...(connections.get(socket) ?? [])].some(({ req }) => req.complete);
}
