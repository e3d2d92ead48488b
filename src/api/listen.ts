import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { Api } from './api-instance.ts';

/**
 * Listens at the first of these addresses and, where that can be done, at the others on the same port. Resolves with the first one's URL,
 * rejects when that one cannot be listened on.
 */
export type Listen = (addresses: readonly string[], port: number) => Promise<string>;

// So many wait to be taken at most, as far as the system lets them (net.core.somaxconn): where thousands come at once, one for whom there is no
// place tries again a second later. Node's own number is 511.
const backlog = 4_096;

/** The addresses to listen at for a host: `localhost` may have two, everything else is taken as it is. */
export async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * A way to listen at several addresses that all lead into the API's one server: Fastify would start one for each, and those after the
 * first answer broken requests in their own way and keep their connections when the API closes. To be made before the API is ready.
 */
export function createListen(app: Api): Listen {
  const doors: Server[] = [];
  let closed: Promise<unknown> = Promise.resolve();
  app.addHook('preClose', async () => {
    closed = Promise.all(doors.map((door) => new Promise((resolve) => door.close(resolve))));
  });
  app.addHook('onClose', async () => void (await closed));
  return async ([first = '127.0.0.1', ...others], port) => {
    const url = await app.listen({ host: first, port, backlog });
    const opened = await Promise.all(
      others.map((address) => openDoor(app, address, Number(new URL(url).port))),
    );
    doors.push(...opened.filter((door) => door !== null));
    return url;
  };
}

// The options are those of Node's HTTP server for its own connections.
async function openDoor(app: Api, host: string, port: number): Promise<Server | null> {
  const options = { allowHalfOpen: true, noDelay: true };
  const door = createServer(options, (socket) => void app.server.emit('connection', socket));
  door.listen({ host, port, backlog });
  try {
    await once(door, 'listening');
    return door;
  } catch {
    return null;
  }
}
