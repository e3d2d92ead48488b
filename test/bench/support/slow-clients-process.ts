import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { answer, isChild, startChild } from './child.ts';

/**
 * Clients in processes of their own that keep so many connections busy without ever finishing a request. They
 * stand for machines elsewhere, so they leave the processors of this one to the daemon and to those who ask
 * it.
 */
export interface SlowClients extends AsyncDisposable {
  /** Connections that are open now, those counted whose request has begun. */
  open(): Promise<number>;
}

const byteEveryMs = 1_000;
const openAtOnce = 50;
const largeBodies = 2;

// Each process has an address of its own: from one address there are not more than 28 000 ports to one
// listener, and a closed connection keeps its port for a minute.
const clientProcesses = 4;

/**
 * Opens `count` connections to a daemon at `url`, and opens anew what is closed. One half drips headers, the
 * other bodies, which the account `slow` must take. Beside them a few clients send bodies of 2 MB one after
 * the other. Resolves when nearly all are open.
 */
export async function startSlowClients(url: string, token: string, count: number): Promise<SlowClients> {
  const each = String(Math.ceil(count / clientProcesses));
  const children = await Promise.all(
    Array.from({ length: clientProcesses }, (_, i) =>
      startChild<'open'>(import.meta.url, [url, token, each, `127.0.0.${i + 2}`]),
    ),
  );
  return {
    async open() {
      const counts = await Promise.all(children.map((child) => child.ask<number>('open')));
      return counts.reduce((sum, one) => sum + one, 0);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map((child) => child[Symbol.asyncDispose]()));
    },
  };
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
      .then((response) => response.text())
      .catch(() => '');
    await sleep(100);
    // oxlint-enable no-await-in-loop
  }
}

if (isChild(import.meta.url)) {
  setPriority(constants.priority.PRIORITY_LOW);
  const [, , url = '', token = '', count = '0', localAddress = ''] = process.argv;
  const order: Order = { url: new URL(url), token, localAddress, sockets: new Set() };
  const wanted = Number(count);
  for (let i = 0; i < wanted; i += 1) {
    drip(order, i % 2 === 0);
    if (i % openAtOnce === openAtOnce - 1) await sleep(20);
  }
  while (order.sockets.size < wanted * 0.98) {
    await sleep(50);
  }
  for (let i = 0; i < largeBodies; i += 1) void sendLargeBodies(order);
  answer(() => order.sockets.size);
}
