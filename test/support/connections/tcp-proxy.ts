import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

/**
 * What happens to a connection: everything passes; requests pass but the reply cuts the connection; or
 * nothing passes in either direction.
 */
type ProxyMode = 'pass' | 'cut-at-reply' | 'stall';

/** A cut of the connection that sends a certain thing: before that arrives, or at the next reply. */
export interface Cut {
  readonly at: 'request' | 'reply';
  isMetBy(sent: Buffer): boolean;
}

/** A way to Redis that can be broken. */
export type TcpProxy = AsyncDisposable & {
  readonly port: number;
  mode: ProxyMode;
  /** Null once it was met. */
  cut: Cut | null;
};

/** Listens on a port of 127.0.0.1 and passes on to `targetPort`. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const redis = connect(targetPort, '127.0.0.1');
    for (const [from, to] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        const cut = from === client && proxy.cut?.isMetBy(bytes) === true ? proxy.cut.at : null;
        if (cut !== null) proxy.cut = null;
        if (cut === 'reply') proxy.mode = 'cut-at-reply';
        if (cut === 'request') client.destroy();
        else if (proxy.mode === 'cut-at-reply' && from === redis) client.destroy();
        else if (proxy.mode !== 'stall') to.write(bytes);
      });
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const proxy: TcpProxy = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    mode: 'pass',
    cut: null,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
