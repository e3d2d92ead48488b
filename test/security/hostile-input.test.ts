import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeCursor, type CursorKind } from '../../src/api/shared/paging.ts';
import type { RouteTable } from '../../src/api/server/http-rules.ts';
import { createApiFixture, hookUrl, operatorToken, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { expectNone } from '../support/expect-none.ts';

const redis = testRedis();
let api: ApiFixture;
let base: string;
let account: string;
let subscription: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  base = await api.app.listen({ host: '127.0.0.1', port: 0 });
  account = await api.createAccount('one');
  const { id } = await api.ok('POST', `${account}/subscriptions`, { url: hookUrl });
  subscription = `${account}/subscriptions/${String(id)}`;
  await api.putFilings('one', [
    { id: 'f_1', status: 'PAID', type: 'filing.paid' },
    { id: '__proto__', status: 'PAID', type: 'filing.paid' },
    { id: 'constructor', status: '__proto__', type: 'filing.status_changed' },
  ]);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

/** The status of an answer of which the headers have come; the stream behind them is let go. */
async function streamStatus(headers: Readonly<Record<string, string>>): Promise<number> {
  const end = new AbortController();
  const response = await fetch(`${base}${account}/events/stream`, {
    headers: { authorization: `Bearer ${operatorToken}`, ...headers },
    signal: end.signal,
  });
  end.abort();
  return response.status;
}

const oddWords = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'NaN',
  'Infinity',
  '-1',
  '1e400',
  '9007199254740993',
  '18446744073709551616-0',
  '99999999999999999999',
  '0x10',
  '*',
  '$',
  '+',
  '>',
  '(1',
  '',
  ' ',
  '\u0000',
  '\u202e',
  'ﬀ',
  '😀',
  "' OR 1=1 --",
  '../../etc/passwd',
  '{a}:b',
  'x'.repeat(1_000),
];

describe('a cursor that a client made up', () => {
  const lists: readonly [kind: CursorKind, path: () => string][] = [
    ['accounts', () => '/v1/accounts'],
    ['tokens', () => `${account}/tokens`],
    ['subscriptions', () => `${account}/subscriptions`],
    ['attempts', () => `${subscription}/attempts`],
    ['dead-letters', () => `${subscription}/dead-letters`],
    ['events', () => `${account}/events`],
    ['newest-events', () => `${account}/events?order=newest`],
    ['filings:', () => `${account}/filings`],
    ['filings:COMPLETED', () => `${account}/filings?status=COMPLETED`],
    ['found-filings:[[],null,["PAID"],null,"newest"]', () => `${account}/filings?status=PAID`],
  ];

  test.each(lists)(
    'for the list of %s is taken or refused, never an error of the daemon',
    async (kind, path) => {
      const statuses = await Promise.all(
        oddWords.map(async (word) => {
          const url = path();
          const cursor = encodeCursor(kind, word);
          const answer = await api.call('GET', `${url}${url.includes('?') ? '&' : '?'}cursor=${cursor}`);
          return [word, answer.status];
        }),
      );
      expectNone(statuses, ([, status]) => status !== 200 && status !== 422, 'statuses');
    },
  );

  test('does not break off a stream of events by an error of the daemon', async () => {
    for (const word of oddWords) {
      const headers = { 'last-event-id': encodeCursor('events', word) };
      expect([200, 422]).toContain(await streamStatus(headers));
    }
  });
});

describe('words with a meaning of their own', () => {
  test('as ids, filters and names find what has that id, or nothing', async () => {
    const paths = [
      (word: string) => `/v1/accounts/${word}`,
      (word: string) => `${account}/tokens/${word}`,
      (word: string) => `${account}/subscriptions/${word}`,
      (word: string) => `${subscription}/replays/${word}`,
      (word: string) => `${account}/replays/${word}.${word}`,
      (word: string) => `${account}/filings/${word}`,
      (word: string) => `${account}/filings?status=${word}`,
      (word: string) => `${account}/events?types=${word}`,
      (word: string) => `${account}/events?filingId=${word}`,
      (word: string) => `${account}/events?${word}=1`,
      (word: string) => `${account}/events?limit=${word}`,
    ];
    const statuses = await Promise.all(
      paths.flatMap((path) =>
        oddWords.map(async (word) => {
          const url = path(encodeURIComponent(word));
          return [url, (await api.call('GET', url)).status] as const;
        }),
      ),
    );
    expectNone(statuses, ([, status]) => ![200, 404, 405, 422].includes(status), 'statuses');
    const found = await api.call('GET', `${account}/filings/__proto__`);
    expect(found.body).toMatchObject({ filingId: '__proto__', status: 'PAID' });
    const counts = (await api.ok('GET', account))['counts'] as object;
    expect(Object.hasOwn(counts, '__proto__')).toBe(true);
  });

  test('in bodies change no prototype and are refused', async () => {
    const bodies = [
      '{"url":"http://127.0.0.1:9000/","__proto__":{"isAdmin":true}}',
      '{"url":"http://127.0.0.1:9000/","headers":{"__proto__":{"isAdmin":true}}}',
      '{"url":"http://127.0.0.1:9000/","constructor":{"prototype":{"isAdmin":true}}}',
      '{"url":"http://127.0.0.1:9000/","headers":{"\\u005f_proto__":"x"}}',
    ];
    for (const body of bodies) {
      const headers = { 'content-type': 'application/json' };
      const answer = await api.call('POST', `${account}/subscriptions`, body, { headers });
      expect([400, 422]).toContain(answer.status);
    }
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
  });
});

describe('bodies', () => {
  const json = { headers: { 'content-type': 'application/json' } };

  test.each([
    ['[', ']'],
    ['{"url":', '}'],
    ['{"headers":{"x":', '}}'],
    ['{"eventTypes":[', ']}'],
  ])('of %s tens of thousands of times are refused', async (part, end) => {
    const times = Math.floor(250_000 / (part.length + end.length));
    const [open, close] = [part.repeat(times), end.repeat(times)];
    const answers = await Promise.all(
      [open, `${open}1${close}`].map((body) => api.call('POST', `${account}/subscriptions`, body, json)),
    );
    for (const { status } of answers) expect([400, 413, 422]).toContain(status);
  });

  test('whatever they are, get an answer below 500', async () => {
    const routes = [...api.app.getDecorator<RouteTable>('routeTable')].flatMap(([path, methods]) =>
      [...methods]
        .filter((method) => ['POST', 'PUT', 'PATCH'].includes(method))
        .map((method) => [method, path] as const),
    );
    const names = [
      'url',
      'eventTypes',
      'states',
      'headers',
      'secret',
      'from',
      'name',
      'expiresAt',
      'graceMs',
      'after',
      'before',
      'filingId',
      'baseUrl',
      'partnerKey',
      'pollIntervalMs',
      'enabled',
      'format',
      'payload',
      'description',
      'readOnly',
      'deadLettersOnly',
    ];
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown>(...oddWords, 'https://example.com/', 'now', 1e300, -0, {}, []),
    );
    const body = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...routes), body, async ([method, path], given) => {
        const url = path.replace(':account', 'one').replace(':id', subscription.split('/').at(-1) ?? '');
        expect((await api.call(method, url, given)).status).toBeLessThan(500);
      }),
      { numRuns: 400 },
    );
  }, 60_000);
});
