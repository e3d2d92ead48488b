import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Clients in a process of their own that keep so many connections busy without ever finishing a request. */
export interface SlowClients extends AsyncDisposable {
  /** Connections that are open now. */
  open(): Promise<number>;
}

const self = fileURLToPath(import.meta.url);
const byteEveryMs = 1_000;
const largeBodies = 5;

/**
 * Opens `count` connections to a daemon at `url`, and opens anew what is closed. One half drips headers, the other bodies. Beside them a few
 * clients send bodies of 2 MB one after the other.
 */
export async function startSlowClients(url: string, token: string, count: number): Promise<SlowClients> {
  const child = fork(self, [url, token, String(count)]);
  await once(child, 'message');
  return {
    async open() {
      child.send('open');
      const [answer] = (await once(child, 'message')) as [number];
      return answer;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function drip(url: URL, token: string, isBody: boolean, sockets: Set<Socket>): void {
  const socket = connect(Number(url.port), url.hostname, () => {
    const head = `POST /v1/accounts/none/poll HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n`;
    socket.write(
      isBody
        ? `${head}content-type: application/json\r\ncontent-length: 200000\r\n\r\n{`
        : 'POST / HTTP/1.1\r\nx: ',
    );
    sockets.add(socket);
  });
  const timer = setInterval(() => socket.write(' '), byteEveryMs);
  socket.on('error', () => {});
  socket.on('data', () => {});
  socket.on('close', () => {
    clearInterval(timer);
    sockets.delete(socket);
    setTimeout(() => drip(url, token, isBody, sockets), byteEveryMs);
  });
}

async function sendLargeBodies(url: string, token: string): Promise<never> {
  const body = JSON.stringify({ url: 'x'.repeat(2_000_000) });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  for (;;) {
    // One after the other on purpose; the daemon answers 413 and closes.
    // oxlint-disable no-await-in-loop
    await fetch(`${url}/v1/accounts/none/subscriptions`, { method: 'POST', headers, body })
      .then((answer) => answer.text())
      .catch(() => '');
    await sleep(100);
    // oxlint-enable no-await-in-loop
  }
}

if (process.argv[1] === self) {
  const [, , url = '', token = '', count = '0'] = process.argv;
  const sockets = new Set<Socket>();
  const wanted = Number(count);
  for (let i = 0; i < wanted; i += 1) {
    drip(new URL(url), token, i % 2 === 0, sockets);
    // oxlint-disable-next-line no-await-in-loop
    if (i % 100 === 99) await sleep(10);
  }
  while (sockets.size < wanted * 0.9) {
    // oxlint-disable-next-line no-await-in-loop
    await sleep(50);
  }
  for (let i = 0; i < largeBodies; i += 1) void sendLargeBodies(url, token);
  process.on('message', () => process.send?.(sockets.size));
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}
