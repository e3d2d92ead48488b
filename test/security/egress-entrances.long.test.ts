import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startRawReceiver, type RawReceiver } from '../support/receivers/raw-receiver.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { testRedis, type TestRedis } from '../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';

const neutral =
  'The endpoint does not lead to public addresses on a permitted port; the operator opens private networks with DELIVERY_ALLOW_CIDRS.';
const base = '/v1/accounts/default';
const answerOk = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

let redis: TestRedis;
let sandbox: TestSandbox;
let canary: RawReceiver;
let daemon: DaemonProcess;

beforeEach(async () => {
  redis = testRedis();
  sandbox = await startSandbox();
  canary = await startRawReceiver((socket) => socket.end(answerOk));
});

afterEach(async () => {
  await daemon[Symbol.asyncDispose]();
  await canary[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await redis.cleanup();
});

async function start(environment: Record<string, string> = {}): Promise<void> {
  daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    ...environment,
  });
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', base);
    expect(health.state).toBe('ok');
  }, 15_000);
}

async function register(url: string): Promise<string> {
  const { id } = await daemon.api.ok<{ id: string }>('POST', `${base}/subscriptions`, { url });
  return `${base}/subscriptions/${id}`;
}

async function outcomes(path: string): Promise<string[]> {
  const { items } = await daemon.api.ok<{ items: { outcome: string }[] }>('GET', `${path}/attempts`);
  return items.map(({ outcome }) => outcome);
}

describe('an address that is refused', () => {
  const closed = { DELIVERY_ALLOW_CIDRS: '' };
  const refused = [
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://localhost:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
  ];

  test('is refused for its text alone when a subscription is made and when it is changed, and nothing is asked of it', async () => {
    await start(closed);
    const path = await register('https://hooks.example.com/');
    const urls = refused.map((url) => url.replace('PORT', String(canary.port)));
    const answers = [
      ...(await Promise.all(urls.map((url) => daemon.api.call('POST', `${base}/subscriptions`, { url })))),
      ...(await Promise.all(urls.map((url) => daemon.api.call('PATCH', path, { url })))),
      // Nobody listens there: the answer is the same.
      await daemon.api.call('POST', `${base}/subscriptions`, { url: 'http://127.0.0.1:1025/' }),
    ];
    const texts = answers.map(({ status, body }) => `${status} ${JSON.stringify(body['errors'])}`);
    const opened = 'the operator opens it with DELIVERY_ALLOW_CIDRS';
    const expected = [
      `is refused: 127.0.0.1 is an address of the daemon's own machine; ${opened}`,
      `is refused: localhost is the daemon's own machine; ${opened}`,
      `is refused: ::ffff:7f00:1 is an IPv4 address written as IPv6; write it as IPv4`,
    ].map((message) => `422 ${JSON.stringify([{ path: 'url', message }])}`);
    expect(new Set(texts)).toEqual(new Set(expected));
    expect(canary.connections()).toBe(0);
  });

  test('is not called by a test, a delivery, a retry, a replay or after enabling, though it was registered when it was allowed', async () => {
    await start();
    const path = await register(canary.url);
    await sandbox.set('f_1', { status: 'PAID' });
    await vi.waitFor(() => expect(canary.requests).toHaveLength(1), 15_000);
    await daemon.end('SIGTERM');

    await start(closed);
    const before = canary.connections();
    const tested = await daemon.api.ok('POST', `${path}/test`);
    expect(tested).toMatchObject({ outcome: 'blocked_address', statusCode: null, response: null });
    expect(JSON.stringify(tested)).toContain(neutral);
    await sandbox.set('f_1', { status: 'PENDING' });
    await vi.waitFor(async () => expect((await outcomes(path)).length).toBeGreaterThan(2), 15_000);
    await daemon.api.ok('POST', `${path}/replay`, { after: '2020-01-01T00:00:00Z' });
    await daemon.api.ok('PATCH', path, { enabled: false });
    await daemon.api.ok('PATCH', path, { enabled: true });
    const sofar = (await outcomes(path)).length;
    await vi.waitFor(async () => expect((await outcomes(path)).length).toBeGreaterThan(sofar), 15_000);
    expect(new Set((await outcomes(path)).slice(0, -1))).toEqual(new Set(['blocked_address']));
    expect(canary.connections()).toBe(before);
  });
});

describe('a callback that is permitted', () => {
  let receiver: RawReceiver;
  let answer: string;

  beforeAll(async () => {
    receiver = await startRawReceiver((socket) => socket.end(answer));
  });

  afterAll(() => receiver[Symbol.asyncDispose]());

  test('follows no redirect to a canary, whatever its status', async () => {
    await start();
    const path = await register(receiver.url);
    for (const status of [301, 302, 303, 307, 308]) {
      answer = `HTTP/1.1 ${status} Elsewhere\r\nlocation: ${canary.url}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`;
      const tested = await daemon.api.ok('POST', `${path}/test`);
      expect(tested).toMatchObject({ outcome: 'redirect', statusCode: status });
    }
    expect(canary.connections()).toBe(0);
  });

  test('goes past every proxy that the environment names', async () => {
    answer = answerOk;
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
    const proxies = Object.fromEntries(names.map((name) => [name, canary.url.replace(/\/$/, '')]));
    await start(proxies);
    const path = await register(receiver.url);
    const sofar = receiver.requests.length;
    expect(await daemon.api.ok('POST', `${path}/test`)).toMatchObject({ outcome: 'delivered' });
    expect(receiver.requests).toHaveLength(sofar + 1);
    expect(canary.connections()).toBe(0);
  });
});
