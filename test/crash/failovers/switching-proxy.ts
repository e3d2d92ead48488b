import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { commandOf, isPush, splitValues } from '../../support/connections/resp-values.ts';

/**
 * A way to Redis that keeps its clients' connections when it goes over to another server, as proxies in front
 * of managed Redises do.
 */
export interface SwitchingProxy extends AsyncDisposable {
  readonly port: number;
  /** From now on every connection, also those that stand, leads to another port of 127.0.0.1. */
  switchTo(port: number): Promise<void>;
}

interface Connection {
  switchTo(port: number): Promise<void>;
}

// What a server has to hear again to treat a connection as the former server did.
const greetings = new Set(['HELLO', 'AUTH', 'SELECT', 'CLIENT']);
// Commands that take longer are blocking reads.
const graceMs = 200;

/** Listens on a port of 127.0.0.1 and passes on to another. */
export async function startSwitchingProxy(firstTarget: number): Promise<SwitchingProxy> {
  const connections = new Map<Socket, Connection>();
  let target = firstTarget;
  const server = createServer((client) => {
    connections.set(client, passOn(client, target));
    client.once('close', () => connections.delete(client));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async switchTo(port) {
      target = port;
      await Promise.all([...connections.values()].map((connection) => connection.switchTo(port)));
    },
    async [Symbol.asyncDispose]() {
      for (const client of connections.keys()) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function passOn(client: Socket, port: number): Connection {
  const greeted: Buffer[] = [];
  let unanswered: Buffer[] = [];
  let held: Buffer[] | null = null;
  let unread = Buffer.alloc(0);
  let server = open(port, 0);

  // Without the first `swallow` replies.
  function open(to: number, swallow: number): Socket {
    const socket = connect(to, '127.0.0.1');
    let toSwallow = swallow;
    let partial = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      if (socket !== server) return;
      const { values, rest } = splitValues(Buffer.concat([partial, bytes]));
      partial = Buffer.from(rest);
      for (const value of values) {
        if (isPush(value)) client.write(value);
        else if (toSwallow > 0) toSwallow -= 1;
        else {
          unanswered.shift();
          client.write(value);
        }
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (socket === server) client.destroy();
    });
    return socket;
  }

  function send(request: Buffer): void {
    if (held !== null) {
      held.push(request);
      return;
    }
    if (greetings.has(commandOf(request))) greeted.push(request);
    unanswered.push(request);
    server.write(request);
  }

  client.on('data', (bytes) => {
    const { values, rest } = splitValues(Buffer.concat([unread, bytes]));
    unread = Buffer.from(rest);
    for (const request of values) send(request);
  });
  client.on('error', () => undefined);
  client.on('close', () => server.destroy());
  return {
    async switchTo(to) {
      held = [];
      for (let waited = 0; unanswered.length > 0 && waited < graceMs; waited += 10) await delay(10);
      const former = server;
      server = open(to, greeted.length);
      former.destroy();
      for (const greeting of greeted) server.write(greeting);
      const later = [...unanswered, ...held];
      [unanswered, held] = [[], null];
      for (const request of later) send(request);
    },
  };
}
