import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RouteTable } from '../../../src/api/method-not-allowed.ts';
import { testRedis } from '../../support/redis.ts';
import { accountInput, createApiFixture, hookUrl, operatorToken, type ApiFixture } from './api-fixture.ts';

type Caller = 'none' | 'wrong' | 'other account' | 'read-only' | 'account' | 'operator';

interface Row {
  readonly body?: unknown;
  readonly expected: Readonly<Record<Caller, number>>;
}

const callers: readonly Caller[] = ['none', 'wrong', 'other account', 'read-only', 'account', 'operator'];

const everybody = (status: number): Row['expected'] => ({
  none: status,
  wrong: status,
  'other account': status,
  'read-only': status,
  account: status,
  operator: status,
});
const operatorOnly = (status: number): Row['expected'] => ({
  none: 401,
  wrong: 401,
  'other account': 404,
  'read-only': 404,
  account: 404,
  operator: status,
});
const reading = (status: number): Row['expected'] => ({
  ...operatorOnly(status),
  'read-only': status,
  account: status,
});
const changing = (status: number): Row['expected'] => ({ ...reading(status), 'read-only': 403 });

const account = '/v1/accounts/:account';
const subscription = `${account}/subscriptions/:id`;

// Every route of the API. Adding one without a row here fails the last test.
const rows: Readonly<Record<string, Row>> = {
  'GET /': { expected: everybody(200) },
  'GET /health/live': { expected: everybody(200) },
  'GET /health/ready': { expected: everybody(200) },
  'GET /metrics': { expected: everybody(200) },
  'GET /openapi.json': { expected: everybody(200) },
  'GET /docs': { expected: everybody(301) },
  'GET /docs/': { expected: everybody(200) },
  'GET /docs/js/scalar.js': { expected: everybody(200) },
  'GET /v1/accounts': { expected: operatorOnly(200) },
  [`PUT ${account}`]: { body: accountInput, expected: operatorOnly(200) },
  [`GET ${account}`]: { expected: reading(200) },
  [`DELETE ${account}`]: { expected: operatorOnly(204) },
  [`POST ${account}/poll`]: { expected: changing(202) },
  [`POST ${account}/tokens`]: { body: { name: 'a' }, expected: changing(201) },
  [`GET ${account}/tokens`]: { expected: reading(200) },
  [`DELETE ${account}/tokens/:token`]: { expected: changing(204) },
  [`POST ${account}/subscriptions`]: { body: { url: hookUrl }, expected: changing(201) },
  [`GET ${account}/subscriptions`]: { expected: reading(200) },
  [`GET ${subscription}`]: { expected: reading(200) },
  [`PATCH ${subscription}`]: { body: { enabled: false }, expected: changing(200) },
  [`DELETE ${subscription}`]: { expected: changing(204) },
  [`POST ${subscription}/rotate-secret`]: { expected: changing(200) },
  [`POST ${subscription}/test`]: { expected: changing(200) },
  [`POST ${subscription}/replay`]: { expected: changing(202) },
  [`GET ${subscription}/replays/:replay`]: { expected: reading(200) },
  [`GET ${account}/replays/:replay`]: { expected: reading(200) },
  [`GET ${subscription}/attempts`]: { expected: reading(200) },
  [`GET ${subscription}/dead-letters`]: { expected: reading(200) },
  [`GET ${account}/events`]: { expected: reading(200) },
  [`GET ${account}/events/stream`]: { expected: reading(200) },
  [`GET ${account}/filings`]: { expected: reading(200) },
  [`GET ${account}/filings/:filingId`]: { expected: reading(200) },
};

const redis = testRedis();
let api: ApiFixture;
let base: string;
let otherToken: string;
let accounts = 0;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  base = await api.app.listen({ host: '127.0.0.1', port: 0 });
  await api.createAccount('other');
  otherToken = await createToken('other', {});
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

async function createToken(name: string, settings: object): Promise<string> {
  const { token } = await api.ok('POST', `/v1/accounts/${name}/tokens`, { name: 'test', ...settings });
  return String(token);
}

/** A new account in which everything that paths speak of exists. */
async function createWorld() {
  const name = `world-${(accounts += 1)}`;
  const path = await api.createAccount(name);
  const { id } = await api.ok('POST', `${path}/subscriptions`, { url: hookUrl });
  const spare = await api.ok('POST', `${path}/tokens`, { name: 'spare' });
  await api.putFilings(name, [{ id: 'f_1', status: 'PAID' }]);
  const values: Record<string, string> = {
    account: name,
    id: String(id),
    token: String(spare['id']),
    replay: `rpl_1.${String(id)}`,
    filingId: 'f_1',
  };
  const tokens: Record<Caller, string | null> = {
    none: null,
    wrong: 'x'.repeat(40),
    'other account': otherToken,
    'read-only': await createToken(name, { readOnly: true }),
    account: await createToken(name, {}),
    operator: operatorToken,
  };
  return {
    tokens,
    fill: (route: string) => route.replaceAll(/:(\w+)/g, (_, key: string) => values[key] ?? ''),
  };
}

async function statusOf(method: string, path: string, token: string | null, body: unknown): Promise<number> {
  const response = await fetch(base + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.body?.cancel();
  return response.status;
}

describe.each(Object.entries(rows))('%s', (route, { body, expected }) => {
  test.each(callers)(`answers as documented to the caller: %s`, async (caller) => {
    const { tokens, fill } = await createWorld();
    const [method = '', path = ''] = route.replace('/tokens/:id', '/tokens/:token').split(' ');
    expect(await statusOf(method, fill(path), tokens[caller], body)).toBe(expected[caller]);
  });
});

test('what an account token may not have looks the same whether or not it exists', async () => {
  const answers = await Promise.all(
    ['/v1/accounts/other', '/v1/accounts/nobody', '/v1/accounts'].map(async (path) => {
      const { tokens } = await createWorld();
      const { status, text } = await api.call('GET', path, undefined, { token: tokens.account });
      return `${status} ${text}`;
    }),
  );
  expect(new Set(answers).size).toBe(1);
});

test('a revoked, an expired and an altered token are as good as none', async () => {
  const path = await api.createAccount('revoking');
  const { token, id } = await api.ok('POST', `${path}/tokens`, { name: 'short' });
  const status = async (text: string) => (await api.call('GET', path, undefined, { token: text })).status;
  expect(await status(String(token))).toBe(200);
  expect(await status(String(token).replace('.revoking', '.other'))).toBe(401);
  await api.ok('DELETE', `${path}/tokens/${String(id)}`);
  expect(await status(String(token))).toBe(401);

  const { text } = await api.deps.tokens.create(
    'revoking',
    { name: 'x', readOnly: false, expiresAt: Date.now() - 1 },
    1,
  );
  expect(await status(text)).toBe(401);
});

test('a refusal names the scheme', async () => {
  const without = await api.call('GET', '/v1/accounts', undefined, { token: null });
  expect(without.headers['www-authenticate']).toBe('Bearer realm="filing-webhooks"');
  const wrong = await api.call('GET', '/v1/accounts', undefined, { token: 'wrong' });
  expect(wrong.headers['www-authenticate']).toContain('error="invalid_token"');
  expect(wrong.body).toMatchObject({ code: 'unauthorized', status: 401 });
});

test('every route has a row', () => {
  const table = api.app.getDecorator<RouteTable>('routeTable');
  const routes = [...table].flatMap(([path, methods]) => [...methods].map((method) => `${method} ${path}`));
  const known = new Set(Object.keys(rows).map((row) => row.replace('/tokens/:token', '/tokens/:id')));
  expect(routes.filter((route) => !route.startsWith('HEAD ') && !known.has(route))).toEqual([]);
  expect(known.size).toBe(routes.filter((route) => !route.startsWith('HEAD ')).length);
});
