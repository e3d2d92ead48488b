import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startReceiver, receiverSecret, type Receiver } from '../support/receivers/receiver.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { startRedisProxy } from '../support/connections/redis-proxy.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';

let redis: PrivateRedis;
let sandbox: TestSandbox;
let receiver: Receiver;
let environment: Record<string, string>;

beforeAll(async () => {
  sandbox = await startSandbox();
  await sandbox.seed(5);
  receiver = await startReceiver();
});

beforeEach(async () => {
  redis = await startPrivateRedis();
  environment = {
    REDIS_URL: redis.url,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
  };
});

afterEach(() => redis.close());

afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

function lines({ logs }: DaemonProcess, name: string): Record<string, unknown>[] {
  return logs.filter(({ msg }) => msg === name);
}

async function isLogged(
  daemon: DaemonProcess,
  name: string,
  line: Record<string, unknown> = {},
): Promise<void> {
  await vi.waitFor(() => expect(lines(daemon, name)).toContainEqual(expect.objectContaining(line)), 20_000);
}

async function ask(url: unknown, path: string) {
  const response = await fetch(new URL(path, String(url)));
  const { status, headers } = response;
  const text = await response.text();
  const body = headers.get('content-type')?.includes('json') ? (JSON.parse(text) as unknown) : text;
  return { status, headers, body };
}

async function untilReady(url: unknown): Promise<void> {
  await vi.waitFor(async () => expect((await ask(url, '/health/ready')).status).toBe(200), {
    timeout: 30_000,
    interval: 50,
  });
}

/** A change of a filing comes as a callback. */
async function expectCallback(daemon: DaemonProcess): Promise<void> {
  const since = receiver.accepted.length;
  const body = { url: receiver.url, secret: receiverSecret };
  await daemon.api.ok('POST', '/v1/accounts/default/subscriptions', body);
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
    expect(health.state).toBe('ok');
  }, 20_000);
  await sandbox.set(`f_${redis.port}`, { status: 'PENDING' });
  await vi.waitFor(() => expect(receiver.accepted.length).toBeGreaterThan(since), 20_000);
}

test('a start without Redis listens at once, says what it waits for, and delivers when Redis comes', async () => {
  await redis.kill();
  await using daemon = await startDaemonProcess({ ...environment, METRICS_PORT: '0' }, 'daemon.listening');
  const { metricsUrl } = lines(daemon, 'daemon.listening')[0] ?? {};
  await isLogged(daemon, 'redis.waiting', {
    redis: redis.url,
    variable: 'REDIS_URL',
    reason: expect.stringContaining('ECONNREFUSED'),
  });
  for (const url of [daemon.url, metricsUrl]) {
    expect(await ask(url, '/health/live')).toMatchObject({ status: 200, body: { live: true, reasons: [] } });
    const reasons = [expect.stringMatching(/^The daemon waits for Redis\. Nothing listens/)];
    expect(await ask(url, '/health/ready')).toMatchObject({ status: 503, body: { ready: false, reasons } });
    expect(await ask(url, '/metrics')).toMatchObject({
      status: 200,
      body: expect.stringMatching(/^filing_webhooks_ready 0$/m),
    });
    const { status, headers, body } = await ask(url, '/v1/accounts?x=1');
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body).toMatchObject({ status: 503, code: 'starting', detail: expect.stringContaining('Redis') });
  }
  await redis.restart();
  await untilReady(metricsUrl);
  expect(lines(daemon, 'daemon.started')[0]).toMatchObject({ url: daemon.url, metricsUrl });
  await expectCallback(daemon);
  expect(await daemon.end('SIGTERM')).toBe(0);
});

test('a start with a wrong password says so without repeating it, and goes on once Redis takes it', async () => {
  const admin = new Redis(redis.url);
  await admin.config('SET', 'requirepass', 'another-one');
  const url = redis.url.replace('//', '//:hunter2@');
  await using daemon = await startDaemonProcess({ ...environment, REDIS_URL: url }, 'daemon.listening');
  await isLogged(daemon, 'redis.waiting', { reason: expect.stringContaining('WRONGPASS') });
  expect(await ask(daemon.url, '/health/ready')).toMatchObject({
    status: 503,
    body: { reasons: [expect.stringContaining('refuses the user or the password of REDIS_URL')] },
  });
  await admin.config('SET', 'requirepass', 'hunter2');
  await untilReady(daemon.url);
  await expectCallback(daemon);
  expect(JSON.stringify(daemon.logs)).not.toContain('hunter2');
  admin.disconnect();
});

test('a Redis that goes away in the middle of the start, again and again, only delays it', async () => {
  await using proxy = await startRedisProxy(redis.port);
  const steps = ['setnx', ':poll:delayed', 'subscribe'];
  const cut = proxy.cutAt(steps);
  await using daemon = await startDaemonProcess({ ...environment, REDIS_URL: proxy.url }, 'daemon.listening');
  await cut;
  await untilReady(daemon.url);
  await expectCallback(daemon);
  expect(await daemon.end('SIGTERM')).toBe(0);
});

test('a process without a port waits as well', async () => {
  await redis.kill();
  await using daemon = await startDaemonProcess({ ...environment, ROLES: 'poll' }, 'redis.waiting');
  expect(lines(daemon, 'daemon.listening')).toEqual([
    expect.objectContaining({ url: null, metricsUrl: null }),
  ]);
  await redis.restart();
  await isLogged(daemon, 'poll.completed');
});

test('a process that waits ends at once when it is asked to', async () => {
  await redis.kill();
  await using daemon = await startDaemonProcess(environment, 'redis.waiting');
  expect(await daemon.end('SIGTERM')).toBe(0);
  expect(lines(daemon, 'daemon.not_started')).toEqual([]);
  expect(lines(daemon, 'daemon.stopped')).toHaveLength(1);
});

test('a port that is taken ends the start, with or without Redis', async () => {
  await redis.kill();
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const started = startDaemonProcess({ ...environment, PORT: String(port) });
  await expect(started).rejects.toThrow(
    /ended with 69: .*another process listens at port.*daemon\.not_started/,
  );
  other.close();
});

test('a Redis that is not safe ends the start, whenever it comes', async () => {
  await redis.kill();
  const ended = startDaemonProcess(environment);
  // Handled here until it is looked at below.
  ended.catch(() => undefined);
  await redis.restart(['--appendonly', 'no']);
  await expect(ended).rejects.toThrow(/ended with 78: .*appendonly yes/);
});
