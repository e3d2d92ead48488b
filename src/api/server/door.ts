import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer, isIPv6, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import type { Api } from './api-instance.ts';
import { httpTimes } from './http-times.ts';

/** A port that is listened on from the start of the process, whoever answers there. */
export interface Door extends AsyncDisposable {
  /** Where it listens; of several addresses the first. */
  readonly url: string;
  /** The open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** For Fastify's `serverFactory`: the server, which the handler is given only by `handOver`. */
  enter(handler: RequestListener): Server;
  /**
   * Makes the app that has entered answer from now on, on connections that are open already too. Closing the
   * app closes the door.
   */
  handOver(app: Api): Promise<void>;
  /**
   * Takes no more connections, and cuts those that are open unless an app has the door. Resolves when the
   * last one has ended.
   */
  close(): Promise<void>;
}

// Maximum number of connections that wait to be taken, as far as the system lets them (net.core.somaxconn):
// where thousands come at once, one for whom there is no place tries again a second later. Node's own number
// is 511.
const backlog = 4_096;
// Maximum number of connections while nobody has the door; the app has limits of its own.
const connectionsBefore = 1_000;

/** The addresses to listen at for a host: `localhost` may have two, everything else is taken as it is. */
export async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * Listens at the first of these addresses and, where that can be done, at the others on the same port.
 * Rejects when the first one cannot be listened on. `answer` answers until an app has the door.
 *
 * All addresses lead into one server: Fastify would start one for each, and those after the first answer
 * broken requests in their own way and keep their connections when the app closes.
 */
export async function openDoor(
  [first = '127.0.0.1', ...others]: readonly string[],
  port: number,
  answer: RequestListener,
): Promise<Door> {
  let current = answer;
  let next = answer;
  let hasApp = false;
  let closed: Promise<unknown> | null = null;
  const { options, server: times } = httpTimes();
  const server = createHttpServer(options, (request, response) => current(request, response));
  Object.assign(server, times);
  server.maxConnections = connectionsBefore;
  const sockets = followSockets(server);
  server.listen({ host: first, port, backlog });
  await once(server, 'listening');
  const { port: opened } = server.address() as AddressInfo;
  const sides = await Promise.all(others.map((host) => openSideDoor(server, host, opened)));
  const listening = [server, ...sides.filter((side) => side !== null)];

  function close(): Promise<void> {
    closed ??= Promise.all(listening.map((each) => new Promise((resolve) => each.close(resolve))));
    if (!hasApp) for (const socket of sockets) socket.destroy();
    return closed.then(() => undefined);
  }

  return {
    url: `http://${reachable(first)}:${opened}`,
    sockets,
    enter(handler) {
      next = handler;
      return server;
    },
    async handOver(app) {
      hasApp = true;
      app.addHook('preClose', async () => void close());
      app.addHook('onClose', close);
      await app.ready();
      server.maxConnections = Infinity;
      current = next;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function followSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

// The options are those of Node's HTTP server for its own connections.
async function openSideDoor(server: Server, host: string, port: number): Promise<NetServer | null> {
  const options = { allowHalfOpen: true, noDelay: true };
  const door = createServer(options, (socket) => void server.emit('connection', socket));
  door.listen({ host, port, backlog });
  try {
    await once(door, 'listening');
    return door;
  } catch {
    return null;
  }
}

// An address that stands for all of them is none to call.
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}
