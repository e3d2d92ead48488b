import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A receiver that may break every rule of HTTP: what it answers are bytes. */
export interface RawReceiver extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Complete requests so far, as they came. */
  readonly requests: readonly string[];
  /** Connections accepted so far, and how many of them are still open. */
  connections(): number;
  open(): number;
}

/**
 * Listens on loopback and calls `answer` for every complete request (by Content-Length), with its number from
 * 1. What is still open is destroyed at the end of the test.
 */
export async function startRawReceiver(
  answer: (socket: Socket, requestNumber: number) => void,
  options: { readonly host?: string; readonly wrap?: (onSocket: (socket: Socket) => void) => Server } = {},
): Promise<RawReceiver> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const onSocket = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    onEachRequest(socket, (request) => answer(socket, requests.push(request)));
  };
  const host = options.host ?? '127.0.0.1';
  const server = options.wrap?.(onSocket) ?? createServer(onSocket);
  server.listen(0, host);
  await once(server, 'listening');
  const port = portOf(server);
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/hook`,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function onEachRequest(socket: Socket, onRequest: (request: string) => void): void {
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    for (let length = requestLength(received); length > 0; length = requestLength(received)) {
      const request = received.slice(0, length);
      received = received.slice(length);
      onRequest(request);
    }
  });
}

/** 0 while the request is incomplete. */
function requestLength(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n') + 4;
  if (headEnd === 3) return 0;
  const bodyLength = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return text.length >= headEnd + bodyLength ? headEnd + bodyLength : 0;
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}
