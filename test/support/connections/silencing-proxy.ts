import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A way to Redis on which connections stand and nothing comes back, as behind a lost route or a server that
 * stands still.
 */
export interface SilencingProxy extends AsyncDisposable {
  readonly port: number;
  /** Names, as CLIENT SETNAME gave them, of the connections that are answered. */
  names(): string[];
  /**
   * Swallows all replies on the present connections whose name fits; later ones pass. Returns how many those
   * are.
   */
  silence(fits: (name: string) => boolean): number;
  /**
   * Swallows everything on present and later connections, in both directions, but on so many of the oldest.
   */
  lose(kept?: number): void;
  /** Cuts what is silent; later connections pass. */
  mend(): void;
}

interface Connection {
  readonly client: Socket;
  name: string;
  silent: boolean;
  lost: boolean;
}

/** Listens on a port of 127.0.0.1 and passes on to `targetPort` there. */
export async function startSilencingProxy(targetPort: number): Promise<SilencingProxy> {
  const connections = new Set<Connection>();
  let losing = false;

  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    const connection: Connection = { client, name: '', silent: false, lost: losing };
    connections.add(connection);
    client.on('data', (bytes) => {
      connection.name = nameIn(bytes) ?? connection.name;
      if (!connection.lost) target.write(bytes);
    });
    target.on('data', (bytes) => {
      if (!connection.lost && !connection.silent) client.write(bytes);
    });
    client.on('error', () => undefined);
    target.on('error', () => undefined);
    client.on('close', () => {
      connections.delete(connection);
      target.destroy();
    });
    target.on('close', () => {
      // Behind a lost route nobody hears of the end either.
      if (!connection.lost && !connection.silent) client.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  const isAnswered = ({ silent, lost }: Connection) => !silent && !lost;
  const cut = (which: Iterable<Connection>) => {
    for (const { client } of which) client.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    names: () => [...connections].filter(isAnswered).map(({ name }) => name),
    silence(fits) {
      const fitting = [...connections].filter((each) => isAnswered(each) && fits(each.name));
      for (const connection of fitting) connection.silent = true;
      return fitting.length;
    },
    lose(kept = 0) {
      losing = true;
      for (const connection of [...connections].slice(kept)) connection.lost = true;
    },
    mend() {
      losing = false;
      cut([...connections].filter((each) => !isAnswered(each)));
    },
    async [Symbol.asyncDispose]() {
      cut(connections);
      server.close();
      await once(server, 'close');
    },
  };
}

function nameIn(bytes: Buffer): string | undefined {
  return /setname\r\n\$\d+\r\n(.*?)\r\n/i.exec(bytes.toString('latin1'))?.[1];
}
