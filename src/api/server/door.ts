import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { createServer, isIPv6, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import type { Api } from './api-instance.ts';
import { createBoundedServer } from '../connections/bounded-server.ts';

/** A port that listens from the start of the process, before and after the API serves it. */
export interface Door extends AsyncDisposable {
  /** The address on which it listens, the first of several. */
  readonly url: string;
  /** The open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** For Fastify's `serverFactory`: returns the server. The handler gets requests only after `handOver`. */
  enter(handler: RequestListener): Server;
  /**
   * Hands all requests to the app that has entered, also those on connections that are open already. Closing
   * the app closes the door.
   */
  handOver(app: Api): Promise<void>;
  /**
   * Accepts no more connections, and cuts open ones unless an app has the door. Resolves when the last one
   * has ended.
   */
  close(): Promise<void>;
}

// Maximum number of connections that wait to be accepted, as far as the system allows (net.core.somaxconn).
// Of thousands that arrive at once, one without a place tries again a second later. Node's default is 511.
const backlog = 4_096;
// Maximum number of connections before an app has the door; the app has limits of its own.
const connectionsBefore = 1_000;

/** The addresses to listen on for a host: `localhost` may have two, any other host stands for itself. */
export async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * Listens on the first of these addresses and, where possible, on the others at the same port. Rejects if the
 * first one fails. `answer` gets the requests until an app has the door.
 *
 * All addresses lead to one server. Fastify would start one server for each; those after the first answer
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
  const server = createBoundedServer({}, (request, response) => current(request, response));
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

// A client cannot call an address that stands for all of them.
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}
