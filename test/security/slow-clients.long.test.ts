import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { expectNone } from '../support/expect-none.ts';

const redis = testRedis();
const openFiles = 300;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await redis.cleanup();
});

function start(files: number | null): Promise<DaemonProcess> {
  return startDaemonProcess({ REDIS_URL: redis.url, REDIS_PREFIX: redis.prefix }, 'daemon.started', files);
}

function openSlow(url: string, count: number): void {
  for (let opened = 0; opened < count; opened += 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
    socket.resume().write('GET / HTTP/1.1\r\nx: ');
    sockets.push(socket);
  }
}

/** Clients that ask for the largest answer and do not read it; what is closed is opened anew. */
function openReaders(url: string, count: number): Disposable & { readonly opened: () => number } {
  let over = false;
  let all = 0;
  function open(): void {
    if (over) return;
    all += 1;
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
    socket.pause().write('GET /docs/js/scalar.js HTTP/1.1\r\nhost: a\r\n\r\n');
    const trickle = setInterval(() => socket.read(100), 500);
    socket.once('close', () => {
      clearInterval(trickle);
      setTimeout(open, 100);
    });
    sockets.push(socket);
  }
  for (let opened = 0; opened < count; opened += 1) open();
  return { opened: () => all, [Symbol.dispose]: () => (over = true) };
}

function residentMiB({ pid }: DaemonProcess): number {
  const [, kib = 'NaN'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

function filesOf({ pid }: DaemonProcess): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/**
 * The status of an answer that is read to its end, over a connection of its own: an idle one may make way at
 * the moment at which a request is sent on it.
 */
async function ask(url: string): Promise<number> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
  return answer.statusCode ?? 0;
}

async function health({ url }: DaemonProcess): Promise<number[]> {
  return Promise.all(['/health/live', '/health/ready'].map((path) => ask(url + path)));
}

test('more slow clients than the daemon may have files leave it reachable, with files to spare', async () => {
  await using daemon = await start(openFiles);
  for (let rounds = 0; rounds < 3; rounds += 1) {
    openSlow(daemon.url, openFiles);
    expect(await health(daemon)).toEqual([200, 200]);
    expect(filesOf(daemon)).toBeLessThan(openFiles - 50);
  }
  expect(daemon.logs.filter(({ msg }) => msg === 'http.connections_full')).toHaveLength(1);
  expectNone(daemon.logs, ({ msg }) => msg === 'background.error', 'log lines');
});

test('slow readers beside slow writers, twice as many as there are places, leave the operator answered and memory free', async () => {
  await using daemon = await start(openFiles);
  await ask(`${daemon.url}/docs/js/scalar.js`);
  const before = residentMiB(daemon);
  using readers = openReaders(daemon.url, 2 * openFiles);
  for (let rounds = 0; rounds < 20; rounds += 1) {
    openSlow(daemon.url, 20);
    expect(await daemon.api.call('GET', '/v1/accounts')).toMatchObject({ status: 200 });
    expect(await health(daemon)).toEqual([200, 200]);
    expect(filesOf(daemon)).toBeLessThan(openFiles - 50);
  }
  // Some have made way for others, and are opened anew.
  await expect.poll(() => readers.opened()).toBeGreaterThan(2 * openFiles);
  expect(residentMiB(daemon) - before).toBeLessThan(256);
});

test('a daemon that is out of files lives on, and answers when there are some again', async () => {
  await using daemon = await start(null);
  const limit = filesOf(daemon) + 20;
  const set = spawnSync('prlimit', ['--pid', String(daemon.pid), `--nofile=${limit}:20000`]);
  expect(set.status).toBe(0);
  openSlow(daemon.url, 100);
  await expect.poll(() => filesOf(daemon)).toBeGreaterThanOrEqual(limit - 1);
  await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length, { timeout: 20_000 }).toBe(100);
  expect(await health(daemon)).toEqual([200, 200]);
  expect(await daemon.end('SIGTERM')).toBe(0);
});
