import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RouteTable } from '../../src/api/server/http-rules.ts';
import { createDashboard } from '../../src/dashboard/dashboard.ts';
import {
  accountInput,
  createApiFixture,
  hookUrl,
  operatorToken,
  type ApiFixture,
} from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { commandsOf } from '../support/redis/watch-commands.ts';

const strangers = ['none', 'malformed', 'wrong', 'altered', 'expired', 'revoked'] as const;
const callers = [
  ...strangers,
  'other account',
  'other read-only',
  'read-only',
  'triage',
  'account',
  'own',
  'maker',
  'operator',
] as const;
// Of tokens that manage only their own subscriptions: `maker` made that of the paths, `own` did not.
type Caller = (typeof callers)[number];

interface Row {
  readonly body?: unknown;
  readonly expected: Readonly<Record<Caller, number>>;
}

const everybody = (status: number): Row['expected'] =>
  Object.fromEntries(callers.map((caller) => [caller, status])) as Row['expected'];
const operatorOnly = (status: number): Row['expected'] => ({
  ...everybody(404),
  ...(Object.fromEntries(strangers.map((caller) => [caller, 401])) as Row['expected']),
  operator: status,
});
const reading = (status: number): Row['expected'] => ({
  ...operatorOnly(status),
  'read-only': status,
  triage: status,
  account: status,
  own: status,
  maker: status,
});
const changing = (status: number): Row['expected'] => ({ ...triaging(status), triage: 403 });
const triaging = (status: number): Row['expected'] => ({
  ...reading(status),
  'read-only': 403,
  own: 403,
  maker: 403,
});
const registering = (status: number): Row['expected'] => ({
  ...reading(status),
  'read-only': 403,
  triage: 403,
});
const readingOne = (status: number): Row['expected'] => ({ ...reading(status), own: 404 });
const changingOne = (status: number): Row['expected'] => ({ ...registering(status), own: 404 });

const anyToken = (status: number): Row['expected'] => ({
  ...everybody(status),
  ...(Object.fromEntries(strangers.map((caller) => [caller, 401])) as Row['expected']),
});

const account = '/v1/accounts/:account';
const subscription = `${account}/subscriptions/:id`;

// Every route of the API. Adding one without a row here fails the last test.
const rows: Readonly<Record<string, Row>> = {
  'GET /': { expected: everybody(200) },
  'GET /health/live': { expected: everybody(200) },
  'GET /health/ready': { expected: everybody(200) },
  'GET /metrics': { expected: everybody(200) },
  'GET /openapi.json': { expected: everybody(200) },
  'GET /openapi-3.0.json': { expected: everybody(200) },
  'GET /docs': { expected: everybody(301) },
  'GET /.well-known/webhook-keys': { expected: everybody(200) },
  'GET /problems': { expected: everybody(200) },
  'GET /problems/:code': { expected: everybody(404) },
  'GET /docs/': { expected: everybody(200) },
  'GET /docs/js/scalar.js': { expected: everybody(200) },
  'GET /assets/main.js': { expected: everybody(200) },
  'GET /v1/session': { expected: anyToken(200) },
  // The token in the body counts, whoever sends it.
  'POST /v1/session': { body: { token: operatorToken }, expected: everybody(201) },
  'DELETE /v1/session': { expected: anyToken(204) },
  'GET /v1/event-types': { expected: anyToken(200) },
  'GET /v1/accounts': { expected: operatorOnly(200) },
  [`PUT ${account}`]: { body: accountInput, expected: operatorOnly(200) },
  [`PATCH ${account}`]: { body: { pollIntervalMs: null }, expected: operatorOnly(200) },
  [`GET ${account}`]: { expected: reading(200) },
  [`GET ${account}/counts`]: { expected: reading(200) },
  [`DELETE ${account}`]: { expected: operatorOnly(204) },
  // Nothing is doubted.
  [`POST ${account}/accept`]: { expected: operatorOnly(409) },
  [`POST ${account}/poll`]: { expected: changing(202) },
  [`POST ${account}/tokens`]: { body: { name: 'a' }, expected: changing(201) },
  [`POST ${account}/links`]: { body: { expiresInMs: 60_000 }, expected: changing(201) },
  [`GET ${account}/tokens`]: { expected: reading(200) },
  [`DELETE ${account}/tokens/:id`]: { expected: changing(204) },
  [`POST ${account}/subscriptions`]: { body: { url: hookUrl }, expected: registering(201) },
  [`GET ${account}/subscriptions`]: { expected: reading(200) },
  [`POST ${account}/subscriptions/preview`]: {
    body: { filter: 'filing.premium > 1' },
    expected: reading(200),
  },
  [`GET ${subscription}`]: { expected: readingOne(200) },
  [`PATCH ${subscription}`]: { body: { enabled: false }, expected: changingOne(200) },
  [`DELETE ${subscription}`]: { expected: changingOne(204) },
  [`POST ${subscription}/rotate-secret`]: { expected: changingOne(200) },
  [`POST ${subscription}/resume`]: { expected: changingOne(200) },
  // It asks for no verification.
  [`POST ${subscription}/verify`]: { expected: changingOne(409) },
  [`POST ${subscription}/test`]: { expected: changingOne(200) },
  [`POST ${subscription}/replay`]: { expected: changingOne(202) },
  [`GET ${subscription}/replays`]: { expected: readingOne(200) },
  [`GET ${subscription}/replays/:replay`]: { expected: readingOne(200) },
  [`DELETE ${subscription}/replays/:replay`]: { expected: changingOne(204) },
  [`GET ${account}/replays/:replay`]: { expected: readingOne(200) },
  [`DELETE ${account}/replays/:replay`]: { expected: changingOne(204) },
  [`GET ${account}/attempts`]: { expected: reading(200) },
  [`GET ${account}/attempts/:attempt`]: { expected: readingOne(200) },
  [`GET ${subscription}/attempts`]: { expected: readingOne(200) },
  [`GET ${subscription}/dead-letters`]: { expected: readingOne(200) },
  [`GET ${account}/events`]: { expected: reading(200) },
  [`GET ${account}/events/:event`]: { expected: reading(200) },
  [`GET ${account}/events/:event/deliveries`]: { expected: reading(200) },
  [`GET ${account}/events/stream`]: { expected: reading(200) },
  [`GET ${account}/filings`]: { expected: reading(200) },
  [`GET ${account}/filings/:filingId`]: { expected: reading(200) },
  // Its subscription does not exist.
  [`POST ${account}/filings/:filingId/send`]: { body: { subscriptions: ['sub_1'] }, expected: changing(404) },
  // No service answers.
  [`GET ${account}/filings/:filingId/draft`]: { expected: reading(503) },
  // It is not REJECTED.
  'GET /v1/rejections': { expected: anyToken(200) },
  [`PUT ${account}/filings/:filingId/seen`]: { body: { by: 'Dana' }, expected: triaging(409) },
  [`DELETE ${account}/filings/:filingId/seen`]: { expected: triaging(204) },
  [`PUT ${account}/filings/:filingId/answer`]: { body: { answeredBy: 'f_2' }, expected: triaging(409) },
  [`DELETE ${account}/filings/:filingId/answer`]: { expected: triaging(204) },
  [`PUT ${account}/filings/seen`]: { body: { ids: ['f_1'], by: 'Dana' }, expected: triaging(200) },
  [`POST ${account}/filings/:filingId/notes`]: {
    body: { by: 'Dana', text: 'asked' },
    expected: triaging(200),
  },
  [`PUT ${account}/filings/:filingId/assignee`]: {
    body: { by: 'Dana', assignee: 'Lee' },
    expected: triaging(200),
  },
};

const redis = testRedis();
let api: ApiFixture;
let base: string;
let worlds = 0;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix, {
    dashboard: createDashboard(),
  });
  base = await api.app.listen({ host: '127.0.0.1', port: 0 });
  await api.createAccount('other');
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

async function createToken(name: string, settings: object = {}): Promise<string> {
  const { token } = await api.ok('POST', `/v1/accounts/${name}/tokens`, { name: 'test', ...settings });
  return String(token);
}

async function expiredToken(name: string): Promise<string> {
  const settings = { name: 'expired', right: 'manage', expiresAt: Date.now() - 1 } as const;
  const made = await api.deps.tokens.create(name, settings, 1);
  return made.kind === 'made' ? made.text : '';
}

async function revokedToken(name: string): Promise<string> {
  const { id, token } = await api.ok('POST', `/v1/accounts/${name}/tokens`, { name: 'revoked' });
  await api.ok('DELETE', `/v1/accounts/${name}/tokens/${String(id)}`);
  return String(token);
}

/** A new account in which everything that paths speak of exists. */
async function createWorld() {
  const name = `world-${(worlds += 1)}`;
  const path = await api.createAccount(name);
  const maker = await createToken(name, { subscriptions: 'own' });
  const made = await api.call('POST', `${path}/subscriptions`, { url: hookUrl }, { token: maker });
  const subscriptionId = String(made.body['id']);
  const tokenId = String((await api.ok('POST', `${path}/tokens`, { name: 'spare' }))['id']);
  await api.putFilings(name, [{ id: `f_${name}`, status: 'PAID', type: 'filing.paid' }]);
  const { items } = await api.ok('GET', `${path}/events`);
  const eventId = (items as { id: string }[])[0]?.id ?? '';
  const attempt = { eventId, eventType: 'filing.paid', filingId: `f_${name}`, attempt: 1, at: 1 };
  const outcome = { outcome: 'timeout', statusCode: null, durationMs: 1, response: null, replay: null };
  await api.stored
    .of(name)
    .of(subscriptionId)
    .addAttempts([{ ...attempt, ...outcome }], '1-1');
  /** The path of a route in `accountName`, with the ids of this world. */
  const fill = (route: string, accountName = name): string =>
    route
      .replace(':account', accountName)
      .replace('tokens/:id', `tokens/${tokenId}`)
      .replace(':id', subscriptionId)
      .replace(':replay', `rpl_1.${subscriptionId}`)
      .replace(':filingId', `f_${name}`)
      .replace(':event', eventId)
      .replace(':attempt', `att_1-1.${subscriptionId}`)
      .replace('*', '');
  return { name, maker, fill };
}

const authorization: Readonly<Record<Caller, (name: string, maker: string) => Promise<string | null>>> = {
  none: async () => null,
  malformed: async (name) => `Bearer ${await createToken(name)} and more`,
  wrong: async () => `Bearer ${'x'.repeat(40)}`,
  altered: async (name) => `Bearer ${(await createToken('other')).replace('.other', `.${name}`)}`,
  expired: async (name) => `Bearer ${await expiredToken(name)}`,
  revoked: async (name) => `Bearer ${await revokedToken(name)}`,
  'other account': async () => `Bearer ${await createToken('other')}`,
  'other read-only': async () => `Bearer ${await createToken('other', { readOnly: true })}`,
  'read-only': async (name) => `Bearer ${await createToken(name, { readOnly: true })}`,
  triage: async (name) => `Bearer ${await createToken(name, { right: 'triage' })}`,
  account: async (name) => `Bearer ${await createToken(name)}`,
  own: async (name) => `Bearer ${await createToken(name, { subscriptions: 'own' })}`,
  maker: async (_name, maker) => `Bearer ${maker}`,
  operator: async () => `Bearer ${operatorToken}`,
};

async function statusOf(method: string, path: string, header: string | null, body: unknown): Promise<number> {
  const response = await fetch(base + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(header === null ? {} : { authorization: header }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.body?.cancel();
  return response.status;
}

/** The names of the commands that Redis is given while something is done, in order. */
async function commandNamesOf(work: () => Promise<unknown>): Promise<string[]> {
  return (await commandsOf(redis, work)).map((line) => /\] "([^"]*)"/.exec(line)?.[1]?.toLowerCase() ?? '');
}

describe.each(Object.entries(rows))('%s', (route, { body, expected }) => {
  test.each(callers)(`answers as documented to the caller: %s`, async (caller) => {
    const { name, maker, fill } = await createWorld();
    const [method = '', path = ''] = route.split(' ');
    const header = await authorization[caller](name, maker);
    expect(await statusOf(method, fill(path), header, body)).toBe(expected[caller]);
  });
});

test('every route has a row', () => {
  const table = api.app.getDecorator<RouteTable>('routeTable');
  const routes = [...table].flatMap(([path, methods]) => [...methods].map((method) => `${method} ${path}`));
  // The page's files are all served in one way.
  const toldApart = routes.filter(
    (route) => !route.startsWith('HEAD ') && (!route.startsWith('GET /assets/') || route in rows),
  );
  expect(toldApart.toSorted()).toEqual(Object.keys(rows).toSorted());
});

describe('what belongs to another account', () => {
  const withIds = Object.entries(rows).filter(([route]) => /:account\/.*:/.test(route));

  test.each(withIds)('%s with its id answers as with an unknown id', async (route, { body }) => {
    const [own, theirs] = [await createWorld(), await createWorld()];
    const [method = '', path = ''] = route.split(' ');
    const token = await createToken(own.name);
    const taken = await api.call(method, theirs.fill(path, own.name), body, { token });
    const unknown = theirs.fill(path, own.name).replaceAll(/(sub|tok|f|evt)_[\w-]+/g, '$1_unknown');
    const free = await api.call(method, unknown, body, { token });
    expect(taken.status).toBe(404);
    expect(taken.text).toBe(free.text);
  });

  const ofSubscriptions = withIds.filter(([, { expected }]) => expected.own === 404);

  test.each(ofSubscriptions)(
    '%s of another token answers and costs as with an unknown id',
    async (route, { body }) => {
      const { name, fill } = await createWorld();
      const [method = '', path = ''] = route.split(' ');
      const token = await createToken(name, { subscriptions: 'own' });
      const taken = fill(path);
      const unknown = taken.replaceAll(/sub_\w+/g, 'sub_0');
      const ask = (url: string) => api.call(method, url, body, { token });
      // The first use of a token is noted, the next ones are not.
      const free = await ask(unknown);
      expect((await ask(taken)).text).toBe(free.text);
      const cost = await commandNamesOf(() => ask(unknown));
      expect(await commandNamesOf(() => ask(taken))).toEqual(cost);
    },
  );

  test.each(withIds)('%s with its id costs as much as with an unknown id', async (route, { body }) => {
    const [own, theirs] = [await createWorld(), await createWorld()];
    const [method = '', path = ''] = route.split(' ');
    const token = await createToken(own.name);
    const taken = theirs.fill(path, own.name);
    const unknown = taken.replaceAll(/(sub|tok|f|evt)_[\w-]+/g, '$1_unknown');
    const ask = (url: string) => api.call(method, url, body, { token });
    // The first use of a token is noted, the next ones are not.
    await ask(unknown);
    const cost = await commandNamesOf(() => ask(unknown));
    expect(cost.length).toBeGreaterThan(1);
    expect(await commandNamesOf(() => ask(taken))).toEqual(cost);
    expect(await commandNamesOf(() => ask(theirs.fill(path)))).toEqual(
      await commandNamesOf(() => ask(theirs.fill(path, 'nobody'))),
    );
  });

  test('looks the same whether or not the account exists', async () => {
    const answers = await Promise.all(
      ['/v1/accounts/other', '/v1/accounts/nobody', '/v1/accounts'].map(async (path) => {
        const token = await createToken((await createWorld()).name);
        const { status, text } = await api.call('GET', path, undefined, { token });
        return `${status} ${text}`;
      }),
    );
    expect(new Set(answers).size).toBe(1);
  });
});

test('a refusal names the scheme', async () => {
  const without = await api.call('GET', '/v1/accounts', undefined, { token: null });
  expect(without.headers['www-authenticate']).toBe('Bearer realm="filing-webhooks"');
  const wrong = await api.call('GET', '/v1/accounts', undefined, { token: 'wrong' });
  expect(wrong.headers['www-authenticate']).toContain('error="invalid_token"');
  expect(wrong.body).toMatchObject({ code: 'unauthorized', status: 401 });
});
