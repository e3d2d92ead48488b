import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ApiLimits } from '../../src/api/access/limits.ts';
import { createApiFixture, operatorToken, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
const plenty = { max: 10_000, windowMs: 60_000 };
const three = { max: 3, windowMs: 600_000 };
let setUp: ApiFixture;
let api: ApiFixture;

beforeAll(async () => {
  setUp = await createApiFixture(redis.connect(), redis.prefix);
  await setUp.createAccount('one');
});

afterEach(() => api.app.close());

afterAll(async () => {
  await setUp.app.close();
  await redis.cleanup();
});

async function start(limits: Partial<ApiLimits>): Promise<void> {
  const all = { failures: plenty, open: plenty, token: plenty, account: plenty, ...limits };
  api = await createApiFixture(redis.connect(), redis.prefix, { limits: all });
}

async function statuses(count: number, path: string, token: string | null): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i += 1) found.push((await api.call('GET', path, undefined, { token })).status);
  return found;
}

async function newToken(): Promise<string> {
  return String((await setUp.ok('POST', '/v1/accounts/one/tokens', { name: 'limited' }))['token']);
}

async function statusFrom(address: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await api.app.inject({ url: '/v1/accounts', headers, remoteAddress: address });
  return answer.statusCode;
}

test('an address that keeps failing has to wait, and no token is checked meanwhile', async () => {
  await start({ failures: three });
  expect(await statuses(4, '/v1/accounts', 'guess')).toEqual([401, 401, 401, 429]);
  const answer = await api.call('GET', '/v1/accounts');
  expect([answer.status, answer.body['code']]).toEqual([429, 'too_many_requests']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
});

test('a missing token counts like a wrong one, also where the method or the path does not exist', async () => {
  await start({ failures: three });
  expect(await statuses(2, '/v1/accounts/one', null)).toEqual([401, 401]);
  const patch = () => api.call('PATCH', '/v1/accounts/one', undefined, { token: null });
  expect([(await patch()).status, (await patch()).status]).toEqual([401, 429]);
});

test('a token that was valid before is let through however often others behind its address fail', async () => {
  await start({ failures: three });
  const token = await newToken();
  expect((await api.call('GET', '/v1/accounts/one', undefined, { token })).status).toBe(200);
  expect((await api.call('GET', '/v1/accounts')).status).toBe(200);
  expect(await statuses(4, '/v1/accounts', 'guess')).toEqual([401, 401, 401, 429]);
  expect((await api.call('GET', '/v1/accounts/one', undefined, { token })).status).toBe(200);
  expect((await api.call('GET', '/v1/accounts')).status).toBe(200);
});

test('addresses do not share their failures; the addresses of one IPv6 network do', async () => {
  await start({ failures: three });
  for (const host of ['::1', '::2', '::3'])
    expect(await statusFrom(`2001:db8:1:2${host}`, 'guess')).toBe(401);
  expect(await statusFrom('2001:db8:1:2:a:b:c:d', 'guess')).toBe(429);
  expect(await statusFrom('2001:db8:1:3::1', 'guess')).toBe(401);
  expect(await statusFrom('203.0.113.7', operatorToken)).toBe(200);
});

test('an account token has a limit of its own, the operator has none', async () => {
  await start({ token: three });
  const [busy, quiet] = [await newToken(), await newToken()];
  expect(await statuses(4, '/v1/accounts/one', busy)).toEqual([200, 200, 200, 429]);
  expect(await statuses(1, '/v1/accounts/one', quiet)).toEqual([200]);
  expect(new Set(await statuses(20, '/v1/accounts/one', operatorToken))).toEqual(new Set([200]));
});

test('the tokens of an account share its limit, however many it makes; other accounts have their own', async () => {
  await start({ account: three });
  await api.createAccount('beside');
  const first = await newToken();
  const made = await Promise.all(
    [1, 2].map(async () => (await api.call('POST', '/v1/accounts/one/tokens', {}, { token: first })).body),
  );
  const tokens = [first, ...made.map(({ token }) => String(token))];
  const seen = await Promise.all(tokens.map((token) => statuses(1, '/v1/accounts/one', token)));
  expect(seen.flat().filter((status) => status === 200)).toHaveLength(1);
  const answer = await api.call('GET', '/v1/accounts/one', undefined, { token: first });
  expect([answer.status, answer.body['code']]).toEqual([429, 'too_many_requests']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  const beside = String((await api.ok('POST', '/v1/accounts/beside/tokens', {}))['token']);
  expect(await statuses(1, '/v1/accounts/beside', beside)).toEqual([200]);
  expect(await statuses(2, '/v1/accounts/one', operatorToken)).toEqual([200, 200]);
});

test('a window ends, and the next requests are answered', async () => {
  await start({ token: { max: 1, windowMs: 2_000 } });
  const token = await newToken();
  expect(await statuses(2, '/v1/accounts/one', token)).toEqual([200, 429]);
  await expect.poll(() => statuses(1, '/v1/accounts/one', token), { timeout: 20_000 }).toEqual([200]);
});

test('signing in counts as ten requests', async () => {
  await start({ token: { max: 12, windowMs: 600_000 } });
  const token = await newToken();
  expect((await api.call('POST', '/v1/session', { token }, { token: null })).status).toBe(201);
  expect(await statuses(3, '/v1/accounts/one', token)).toEqual([200, 200, 429]);
});

test('what needs no token is limited per address, unknown paths included, and health is not', async () => {
  await start({ open: three });
  expect(await statuses(2, '/problems', null)).toEqual([200, 200]);
  expect(await statuses(1, '/nothing', null)).toEqual([404]);
  expect([await statuses(1, '/problems', null), await statuses(1, '/nothing', null)]).toEqual([[429], [429]]);
  expect(await statuses(1, '/openapi.json', null)).toEqual([429]);
  expect(new Set(await statuses(20, '/health/live', null))).toEqual(new Set([200]));
  expect(new Set(await statuses(20, '/health/ready', null))).toEqual(new Set([200]));
  expect(await statuses(1, '/v1/accounts', operatorToken)).toEqual([200]);
});

test('an answer of megabytes that needs no token costs an address as much as many small ones', async () => {
  await start({ open: { max: 20, windowMs: 600_000 } });
  expect(await statuses(10, '/problems', null)).toEqual(Array.from({ length: 10 }, () => 200));
  await api.app.close();
  await start({ open: { max: 20, windowMs: 600_000 } });
  expect(await statuses(3, '/docs/js/scalar.js', null)).toEqual([200, 200, 429]);
});

test('ordinary use stays far below the limits', async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  const token = await newToken();
  expect(new Set(await statuses(200, '/v1/accounts', 'guess'))).toEqual(new Set([401]));
  expect(new Set(await statuses(1_000, '/v1/accounts/one', token))).toEqual(new Set([200]));
  expect(new Set(await statuses(500, '/problems', null))).toEqual(new Set([200]));
});

test('the tokens of an account ask for a few polls a minute together, the operator for any number', async () => {
  await start({});
  const [one, other] = [await newToken(), await newToken()];
  const poll = (token: string) => api.call('POST', '/v1/accounts/one/poll', undefined, { token });
  const asked = [await poll(one), await poll(other), await poll(one), await poll(other)];
  expect(asked.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  const { status, body, headers } = await poll(one);
  expect([status, body['code']]).toEqual([429, 'too_many_requests']);
  expect(body['detail']).toContain('those of its schedule go on');
  expect(Number(headers['retry-after'])).toBeGreaterThan(10);
  expect((await poll(operatorToken)).status).toBe(202);
});
