import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiFixture, operatorToken, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;
let base: string;
let subscription: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  base = await api.createAccount('head');
  await api.putFilings('head', [{ id: 'f_1', status: 'PENDING', type: 'filing.pending' }]);
  const { id } = await api.ok('POST', `${base}/subscriptions`, { url: 'https://receiver.example/' });
  subscription = `${base}/subscriptions/${String(id)}`;
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

const lists: readonly (readonly [name: string, path: () => string])[] = [
  ['accounts', () => '/v1/accounts'],
  ['filings', () => `${base}/filings`],
  ['filings, newest first', () => `${base}/filings?status=PENDING&order=newest`],
  ['events', () => `${base}/events`],
  ['events, newest first', () => `${base}/events?order=newest`],
  ['subscriptions', () => `${base}/subscriptions`],
  ['tokens', () => `${base}/tokens`],
  ['attempts', () => `${subscription}/attempts`],
  ['dead letters', () => `${subscription}/dead-letters`],
];

const answer = (method: 'GET' | 'HEAD', url: string, headers: Record<string, string> = {}) =>
  api.app.inject({ method, url, headers: { authorization: `Bearer ${operatorToken}`, ...headers } });

// Those that GET alone knows, and those that differ from one response to the next.
const varying = new Set(['content-length', 'transfer-encoding', 'date', 'connection']);

function steady(headers: object) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !varying.has(name)));
}

test.each(lists)('HEAD of %s has the headers of GET, without a length or a body', async (_, path) => {
  const [got, head] = [await answer('GET', path()), await answer('HEAD', path())];
  expect(head.statusCode).toBe(200);
  expect(head.body).toBe('');
  expect(head.headers['content-length']).toBeUndefined();
  expect(steady(head.headers)).toEqual(steady(got.headers));
});

test('HEAD of the table has the headers of GET', async () => {
  const accept = { accept: 'text/csv' };
  const [got, head] = [
    await answer('GET', `${base}/filings`, accept),
    await answer('HEAD', `${base}/filings`, accept),
  ];
  expect(head.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
  expect(head.body).toBe('');
  expect(steady(head.headers)).toEqual(steady(got.headers));
});

test.each(lists)('HEAD of %s checks the query, the cursor and the token as GET does', async (_, path) => {
  const asks = (query: string) => `${path()}${path().includes('?') ? '&' : '?'}${query}`;
  for (const query of ['limit=0', 'cursor=nonsense', 'unknown=1'])
    expect((await answer('HEAD', asks(query))).statusCode, query).toBe(422);
  expect((await answer('HEAD', path(), { authorization: 'Bearer wrong' })).statusCode).toBe(401);
});

test('HEAD of a list of what does not exist is 404', async () => {
  expect((await answer('HEAD', '/v1/accounts/none/filings')).statusCode).toBe(404);
  expect((await answer('HEAD', `${base}/subscriptions/sub_none/attempts`)).statusCode).toBe(404);
});

test.each(lists)('HEAD of %s reads nothing of it', async (_, path) => {
  const read: string[] = [];
  const { filings, log, subscriptions, tokens, journal, attempts, accounts } = api.deps;
  const watched = { filings, log, subscriptions, tokens, journal, attempts, accounts };
  for (const [name, store] of Object.entries(watched))
    for (const verb of [
      'list',
      'page',
      'scan',
      'walk',
      'outlineAfter',
      'outlineBefore',
      'attempts',
      'deadLetters',
    ]) {
      const each = store as unknown as Record<string, (...args: unknown[]) => unknown>;
      const real = each[verb];
      if (real === undefined) continue;
      each[verb] = (...args) => {
        read.push(`${name}.${verb}`);
        return real(...args);
      };
    }
  await answer('HEAD', path());
  expect(read).toEqual([]);
  await answer('GET', path());
  expect(read).not.toEqual([]);
});
