import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { createApiFixture, type ApiFixture } from '../support/api/api-fixture.ts';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
const limits = { failures: { max: 2, windowMs: 600_000 } };
let api: ApiFixture;

beforeEach(async () => {
  const trustedProxies = ['10.0.0.0/8', '::1/128'];
  api = await createApiFixture(redis.connect(), redis.prefix, { limits, trustedProxies });
});

afterEach(() => api.app.close());
afterAll(() => redis.cleanup());

/** What a caller without a token is answered: 401, or 429 when its address has had that twice. */
async function ask(remoteAddress: string, forwardedFor?: string): Promise<number> {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  return (await api.app.inject({ url: '/v1/accounts', headers, remoteAddress })).statusCode;
}

async function exhaust(remoteAddress: string, forwardedFor?: string): Promise<void> {
  expect([await ask(remoteAddress, forwardedFor), await ask(remoteAddress, forwardedFor)]).toEqual([
    401, 401,
  ]);
}

test('callers behind a trusted proxy are limited one by one', async () => {
  await exhaust('10.0.0.1', '203.0.113.1');
  expect(await ask('10.0.0.1', '203.0.113.1')).toBe(429);
  expect(await ask('10.9.9.9', '203.0.113.1')).toBe(429);
  expect(await ask('::1', '203.0.113.1')).toBe(429);
  expect(await ask('10.0.0.1', '203.0.113.2')).toBe(401);
});

test('behind several, the last address that is in none of their networks counts', async () => {
  await exhaust('10.0.0.1', '203.0.113.1, 10.0.0.2, 10.0.0.3');
  expect(await ask('10.0.0.1', '203.0.113.1')).toBe(429);
});

test('what a caller wrote into the header itself changes nothing', async () => {
  await exhaust('10.0.0.1', '203.0.113.1');
  for (const forged of [
    '198.51.100.1',
    '10.0.0.7',
    '127.0.0.1',
    '::1',
    'unknown',
    '"',
    ',,',
    'a'.repeat(2_000),
  ])
    expect(await ask('10.0.0.1', `${forged}, 203.0.113.1`)).toBe(429);
});

test('from an address that is no trusted proxy the header means nothing', async () => {
  await exhaust('203.0.113.1');
  expect(await ask('203.0.113.1', '198.51.100.1')).toBe(429);
  expect(await ask('203.0.113.1', '10.0.0.1')).toBe(429);
  expect(await ask('11.0.0.1', '203.0.113.1')).toBe(401);
});

test('a port after the address makes no other client of it', async () => {
  expect([await ask('10.0.0.1', '203.0.113.1:5001'), await ask('10.0.0.1', '203.0.113.1:5002')]).toEqual([
    401, 401,
  ]);
  expect(await ask('10.0.0.1', '203.0.113.1:5003')).toBe(429);
  await exhaust('10.0.0.1', '[2001:db8::1]:1');
  expect(await ask('10.0.0.1', '[2001:db8::2]:2')).toBe(429);
});

test.each([
  { trusted: '127.0.0.0/8', others: 401 },
  { trusted: '', others: 429 },
])('the daemon believes whom TRUSTED_PROXIES names: "$trusted"', async ({ trusted, others }) => {
  const environment = { REDIS_URL: redis.url, REDIS_PREFIX: redis.prefix, TRUSTED_PROXIES: trusted };
  await using daemon = await startDaemonProcess(environment);
  const from = async (address: string) =>
    (await fetch(`${daemon.url}/v1/accounts`, { headers: { 'x-forwarded-for': address } })).status;
  let status = 401;
  for (let asked = 0; asked < 2_000 && status === 401; asked += 1) status = await from('203.0.113.1');
  expect(status).toBe(429);
  expect(await from('203.0.113.2')).toBe(others);
});
