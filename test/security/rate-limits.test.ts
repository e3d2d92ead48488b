import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ApiLimits } from '../../src/api/deps.ts';
import { createApiFixture, operatorToken, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
const plenty = { burst: 10_000, perSecond: 1_000 };
const three = { burst: 3, perSecond: 0.001 };
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

test('the bytes of a response are charged: the request after a large one waits', async () => {
  await start({ token: { burst: 4, perSecond: 0.001 } });
  await api.createAccount('large');
  const document = { id: 'f', status: 'PAID', text: 'x'.repeat(1024 * 1024) };
  await api.putFilings('large', [{ id: 'f', status: 'PAID', type: 'filing.paid', document }]);
  const token = String((await setUp.ok('POST', '/v1/accounts/large/tokens', {}))['token']);
  expect(await statuses(2, '/v1/accounts/large/events?limit=1', token)).toEqual([200, 429]);
  const small = String((await setUp.ok('POST', '/v1/accounts/large/tokens', {}))['token']);
  expect(await statuses(4, '/v1/accounts/large', small)).toEqual([200, 200, 200, 200]);
});

test('the certificates of a request are charged before they are parsed', async () => {
  await start({ token: { burst: 4, perSecond: 0.001 } });
  const fixture = new URL('../integration/callbacks/fixtures/callback-test-cert.pem', import.meta.url);
  const ca = readFileSync(fixture, 'utf8').repeat(40);
  const path = '/v1/accounts/one/subscriptions';
  const post = async (body: object, token: string) =>
    (await api.call('POST', path, { url: 'https://127.0.0.1:9000/hook', ...body }, { token })).status;
  const token = await newToken();
  expect(await post({ tls: { ca } }, token)).toBe(201);
  expect(await post({}, token)).toBe(429);
  const refused = await newToken();
  expect(await post({ tls: { ca: `${ca}-----BEGIN CERTIFICATE-----`, key: 'none' } }, refused)).toBe(422);
  expect(await post({}, refused)).toBe(429);
});

test('a token that cannot be made costs the search among all of the account', async () => {
  await start({ token: { burst: 15, perSecond: 0.001 } });
  await api.createAccount('full');
  const path = '/v1/accounts/full/tokens';
  const token = String((await setUp.ok('POST', path, {}))['token']);
  const settings = { name: 'other', readOnly: false, expiresAt: null };
  await Promise.all(Array.from({ length: 999 }, () => api.deps.tokens.create('full', settings, Date.now())));
  const codes = [];
  for (const made of ['tokens', 'links', 'links']) {
    const body = made === 'links' ? { expiresInMs: 60_000 } : {};
    codes.push((await api.call('POST', path.replace('tokens', made), body, { token })).body['code']);
  }
  expect(codes).toEqual(['too_many_tokens', 'too_many_tokens', 'too_many_requests']);
});

test('an export is charged as it is sent', async () => {
  await start({ account: { burst: 2, perSecond: 0.001 } });
  await api.createAccount('exporting');
  const filings = Array.from({ length: 900 }, (_, i) => ({ id: `${i} ${'x'.repeat(230)}`, status: 'PAID' }));
  await api.putFilings('exporting', filings);
  const token = String((await setUp.ok('POST', '/v1/accounts/exporting/tokens', {}))['token']);
  const headers = { accept: 'text/csv' };
  const path = '/v1/accounts/exporting/filings';
  const csv = await api.call('GET', path, undefined, { token, headers });
  expect([csv.status, csv.text.trimEnd().split('\r\n').length]).toEqual([200, 901]);
  expect((await api.call('GET', path, undefined, { token })).status).toBe(429);
});

test('a stream that is far behind goes no further than it is paid for', async () => {
  const limits = { account: { burst: 3, perSecond: 0.001 } };
  api = await createApiFixture(redis.connect(), redis.prefix, { limits, timing: { heartbeatMs: 20 } });
  await api.createAccount('behind');
  const filings = Array.from({ length: 700 }, (_, i) => ({
    id: `f_${i}`,
    status: 'PAID',
    type: 'filing.paid',
  }));
  await api.putFilings('behind', filings);
  const token = String((await setUp.ok('POST', '/v1/accounts/behind/tokens', {}))['token']);
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const [paced, whole] = await Promise.all(
    [token, operatorToken].map((by) => eventsUntilQuiet(`${url}/v1/accounts/behind/events/stream`, by)),
  );
  expect(whole).toBe(700);
  expect(paced).toBeGreaterThanOrEqual(200);
  expect(paced).toBeLessThan(500);
});

/** Number of events of a stream from the earliest, up to its third comment in a row. */
async function eventsUntilQuiet(url: string, token: string): Promise<number> {
  const end = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await fetch(`${url}?from=earliest`, { headers, signal: end.signal });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (/(?:^: .*\n\n){3}$/m.test(text)) break;
  }
  end.abort();
  return text.split('\ndata: ').length - 1;
}

test('what needs no token is limited per address, unknown paths included, and health is not', async () => {
  await start({ open: three });
  expect(await statuses(2, '/', null)).toEqual([200, 200]);
  expect(await statuses(1, '/nothing', null)).toEqual([404]);
  expect([await statuses(1, '/', null), await statuses(1, '/nothing', null)]).toEqual([[429], [429]]);
  expect(await statuses(1, '/openapi.json', null)).toEqual([429]);
  expect(new Set(await statuses(20, '/health/live', null))).toEqual(new Set([200]));
  expect(new Set(await statuses(20, '/health/ready', null))).toEqual(new Set([200]));
  expect(await statuses(1, '/v1/accounts', operatorToken)).toEqual([200]);
});

test('an answer of megabytes that needs no token costs an address as much as many small ones', async () => {
  await start({ open: { burst: 20, perSecond: 0.001 } });
  expect(await statuses(10, '/', null)).toEqual(Array.from({ length: 10 }, () => 200));
  await api.app.close();
  await start({ open: { burst: 20, perSecond: 0.001 } });
  expect(await statuses(3, '/docs/js/scalar.js', null)).toEqual([200, 200, 429]);
});

test('ordinary use stays far below the limits', async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  const token = await newToken();
  expect(new Set(await statuses(200, '/v1/accounts', 'guess'))).toEqual(new Set([401]));
  expect(new Set(await statuses(1_000, '/v1/accounts/one', token))).toEqual(new Set([200]));
  expect(new Set(await statuses(500, '/', null))).toEqual(new Set([200]));
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
