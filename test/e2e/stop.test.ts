import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startReceiver, createLatch, receiverSecret, type Receiver } from '../support/receivers/receiver.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';

const subscriptions = '/v1/accounts/default/subscriptions';
const authorization = `host: x\r\nauthorization: Bearer ${apiToken}\r\n`;
const putAccount = `PUT /v1/accounts/b HTTP/1.1\r\n${authorization}content-type: application/json\r\ncontent-length: 99\r\n\r\n`;
let redis: PrivateRedis;
let sandbox: TestSandbox;
let pauser: Redis;
let receiver: Receiver;
let environment: Record<string, string>;

beforeAll(async () => {
  redis = await startPrivateRedis();
  pauser = new Redis(redis.url);
  pauser.on('error', () => undefined);
  sandbox = await startSandbox();
  await sandbox.seed(5);
  receiver = await startReceiver();
  environment = {
    REDIS_URL: redis.url,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
  };
});

afterEach(() => receiver.answer(200));

afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  pauser.disconnect();
  await redis.close();
});

function lines(daemon: DaemonProcess, name: string): Record<string, unknown>[] {
  return daemon.logs.filter(({ msg }) => msg === name);
}

function leftBehind(daemon: DaemonProcess): unknown[] {
  return lines(daemon, 'daemon.part_left').map(({ part }) => part);
}

async function isLogged(daemon: DaemonProcess, name: string): Promise<void> {
  await vi.waitFor(() => expect(lines(daemon, name).length).toBeGreaterThan(0), 20_000);
}

/** A client that has sent this much, and reads no further than the first answer. */
async function openConnection({ url }: DaemonProcess, text: string, awaits: 'answer' | 'nothing') {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  if (awaits === 'answer') await once(socket, 'data');
  return socket;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

async function subscribe(daemon: DaemonProcess): Promise<string> {
  const body = { url: receiver.url, secret: receiverSecret };
  return (await daemon.api.ok<{ id: string }>('POST', subscriptions, body)).id;
}

async function unsubscribeAll({ api }: DaemonProcess): Promise<void> {
  const { items } = await api.ok<{ items: { id: string }[] }>('GET', subscriptions);
  await Promise.all(items.map(({ id }) => api.ok('DELETE', `${subscriptions}/${id}`)));
}

async function baselined(daemon: DaemonProcess): Promise<void> {
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
    expect(health.state).toBe('ok');
  }, 20_000);
}

test('no connection keeps it from ending: unused, kept alive, with half a request, or an event stream', async () => {
  await using daemon = await startDaemonProcess(environment);
  const sockets = [
    await openConnection(daemon, '', 'nothing'),
    await openConnection(daemon, 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n', 'answer'),
    await openConnection(daemon, 'GET /health/live HTTP/1.1\r\nhost', 'nothing'),
    await openConnection(daemon, `${putAccount}{`, 'nothing'),
    await openConnection(
      daemon,
      `GET /v1/accounts/default/events/stream HTTP/1.1\r\n${authorization}\r\n`,
      'answer',
    ),
  ];
  expect(await daemon.end('SIGTERM')).toBe(0);
  expect(leftBehind(daemon)).toEqual([]);
  for (const socket of sockets) socket.destroy();
});

test('a second signal does not cut off an answer that is being worked on, and nothing is polled meanwhile', async () => {
  await using daemon = await startDaemonProcess(environment);
  await baselined(daemon);
  const subscription = await subscribe(daemon);
  const latch = createLatch<number>();
  receiver.answer(() => latch.opened);
  const ping = daemon.api.call('POST', `${subscriptions}/${subscription}/test`);
  await vi.waitFor(() => expect(receiver.inFlight()).toBe(1), 5_000);
  const unfinished = await openConnection(daemon, 'GET /health/live HTTP/1.1\r\nhost', 'nothing');
  const halfSent = await openConnection(daemon, `${putAccount}{`, 'nothing');
  const cut = Promise.all([unfinished, halfSent].map(closed));
  const ended = daemon.end('SIGTERM');
  await isLogged(daemon, 'daemon.stopping');
  const polls = lines(daemon, 'poll.completed').length;
  const endedToo = daemon.end('SIGINT');
  await cut;
  latch.open(200);
  expect((await ping).body).toMatchObject({ outcome: 'delivered' });
  expect([await ended, await endedToo]).toEqual([0, 0]);
  expect(lines(daemon, 'poll.completed').length - polls).toBeLessThanOrEqual(1);
});

test('ends well while Redis is gone, and while it hangs', async () => {
  await using first = await startDaemonProcess(environment);
  await baselined(first);
  await redis.kill();
  await isLogged(first, 'redis.down');
  expect(await first.end('SIGTERM')).toBe(0);
  await redis.restart();

  await using second = await startDaemonProcess(environment);
  await baselined(second);
  await pauser.call('CLIENT', 'PAUSE', '60000', 'ALL');
  expect(await second.end('SIGTERM')).toBe(0);
  await redis.restart();
});

test('ends well before it has started', async () => {
  await using daemon = await startDaemonProcess(
    { ...environment, REDIS_URL: 'redis://127.0.0.1:1' },
    'redis.down',
  );
  expect(await daemon.end('SIGTERM')).toBe(0);
  expect(lines(daemon, 'daemon.not_started')).toEqual([]);
});

test('callbacks whose receiver hangs are aborted in time, which costs them nothing, and repeated by the next process', async () => {
  const patient = { ...environment, DELIVERY_TIMEOUT_MS: '60000', DELIVERY_MAX_IN_FLIGHT: '50' };
  await using first = await startDaemonProcess(patient);
  await baselined(first);
  await unsubscribeAll(first);
  const subscription = `${subscriptions}/${await subscribe(first)}`;
  const since = receiver.received.length;
  const acceptedBefore = receiver.accepted.length;
  receiver.answer('hang');
  const filings = Array.from({ length: 50 }, (_, i) => `f_hanging_${i}`);
  await Promise.all(filings.map((id) => sandbox.set(id, { status: 'PENDING' })));
  await vi.waitFor(() => expect(receiver.inFlight()).toBe(50), 20_000);
  const hanging = receiver.received.slice(since).map(({ id }) => id);
  const signalledAt = performance.now();
  const ended = first.end('SIGTERM');
  await isLogged(first, 'daemon.stopping');
  const endedToo = first.end('SIGTERM');
  expect([await ended, await endedToo]).toEqual([0, 0]);
  expect(performance.now() - signalledAt).toBeLessThan(30_000);
  expect(leftBehind(first)).toEqual([]);
  expect(lines(first, 'delivery.aborted')).toHaveLength(50);

  receiver.answer(200);
  await using second = await startDaemonProcess(patient);
  await vi.waitFor(() => expect(receiver.accepted.length - acceptedBefore).toBe(50), 30_000);
  expect(
    receiver.accepted
      .slice(acceptedBefore)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(hanging.toSorted());
  await vi.waitFor(async () => {
    const { items } = await second.api.ok<{ items: { outcome: string; attempt: number; eventId: string }[] }>(
      'GET',
      `${subscription}/attempts?limit=100`,
    );
    for (const outcome of ['aborted', 'delivered'])
      expect(items.filter((item) => item.outcome === outcome && item.attempt === 1)).toHaveLength(50);
  }, 10_000);
  expect(await second.api.ok('GET', subscription)).toMatchObject({ state: 'active', consecutiveFailures: 0 });
  expect(await second.end('SIGTERM')).toBe(0);
}, 120_000);
