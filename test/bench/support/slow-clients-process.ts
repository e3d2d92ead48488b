import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/**
 * Clients in processes of their own that keep so many connections busy without ever finishing a request. They stand for machines elsewhere, so they
 * leave the processors of this one to the daemon and to those who ask it.
 */
export interface SlowClients extends AsyncDisposable {
  /** Connections that are open now, those counted whose request has begun. */
  open(): Promise<number>;
}

const self = fileURLToPath(import.meta.url);
const byteEveryMs = 1_000;
const openAtOnce = 50;
const largeBodies = 2;

// Each process has an address of its own: from one address there are not more than 28 000 ports to one listener, and a closed connection
// keeps its port for a minute.
const clientProcesses = 4;

/**
 * Opens `count` connections to a daemon at `url`, and opens anew what is closed. One half drips headers, the other bodies, which the account `slow`
 * must take. Beside them a few clients send bodies of 2 MB one after the other. Resolves when nearly all are open.
 */
export async function startSlowClients(url: string, token: string, count: number): Promise<SlowClients> {
  const children = Array.from({ length: clientProcesses }, (_, i) =>
    fork(self, [url, token, String(Math.ceil(count / clientProcesses)), `127.0.0.${i + 2}`]),
  );
  await Promise.all(children.map((child) => once(child, 'message')));
  return {
    async open() {
      const counts = await Promise.all(children.map(ask));
      return counts.reduce((sum, one) => sum + one, 0);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(end));
    },
  };
}

async function ask(child: ChildProcess): Promise<number> {
  child.send('open');
  const [answer] = (await once(child, 'message')) as [number];
  return answer;
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

interface Order {
  readonly url: URL;
  readonly token: string;
  readonly localAddress: string;
  readonly sockets: Set<Socket>;
}

function drip(order: Order, isBody: boolean): void {
  const { url, token, localAddress, sockets } = order;
  const socket = connect({ port: Number(url.port), host: url.hostname, localAddress }, () => {
    const head = `POST /v1/accounts/slow/poll HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n`;
    const bodyBegins = `${head}content-type: application/json\r\ncontent-length: 200000\r\n\r\n{`;
    socket.write(isBody ? bodyBegins : 'POST / HTTP/1.1\r\nx: ');
    sockets.add(socket);
  });
  const timer = setInterval(() => socket.write(' '), byteEveryMs);
  socket.on('error', () => {});
  socket.on('data', () => {});
  socket.on('close', () => {
    clearInterval(timer);
    sockets.delete(socket);
    setTimeout(() => drip(order, isBody), 10);
  });
}

async function sendLargeBodies({ url, token }: Order): Promise<never> {
  const body = JSON.stringify({ url: 'x'.repeat(2_000_000) });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  for (;;) {
    // One after the other on purpose; the daemon answers 413 and closes.
    // oxlint-disable no-await-in-loop
    await fetch(new URL('/v1/accounts/slow/subscriptions', url), { method: 'POST', headers, body })
      .then((answer) => answer.text())
      .catch(() => '');
    await sleep(100);
    // oxlint-enable no-await-in-loop
  }
}

if (process.argv[1] === self) {
  setPriority(constants.priority.PRIORITY_LOW);
  const [, , url = '', token = '', count = '0', localAddress = ''] = process.argv;
  const order: Order = { url: new URL(url), token, localAddress, sockets: new Set() };
  const wanted = Number(count);
  for (let i = 0; i < wanted; i += 1) {
    drip(order, i % 2 === 0);
    // oxlint-disable-next-line no-await-in-loop
    if (i % openAtOnce === openAtOnce - 1) await sleep(20);
  }
  while (order.sockets.size < wanted * 0.98) {
    // oxlint-disable-next-line no-await-in-loop
    await sleep(50);
  }
  for (let i = 0; i < largeBodies; i += 1) void sendLargeBodies(order);
  process.on('message', () => process.send?.(order.sockets.size));
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}
