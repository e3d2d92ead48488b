import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testRedis } from '../../support/redis/test-redis.ts';
import { accountInput, createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';

/** A wrong value of one field; `field` is where the answer must point. */
type Case = readonly [field: string, value: unknown];

const A = '/v1/accounts/one';
const S = `${A}/subscriptions`;
const long = (length: number) => 'x'.repeat(length);

const subscriptionCases: readonly Case[] = [
  ['url', ''],
  ['url', 7],
  ['url', 'not a url'],
  ['url', 'ftp://example.com/'],
  ['url', 'http://10.0.0.1/'],
  ['url', 'http://user:pass@127.0.0.1:9000/'],
  ['url', `http://127.0.0.1:9000/${long(3000)}`],
  ['eventTypes', 'filing.*'],
  ['eventTypes', []],
  ['eventTypes.0', ['filing.unheard_of']],
  ['eventTypes.0', ['**']],
  ['eventTypes.1', ['filing.*', 3]],
  ['eventTypes', ['filing.paid', 'filing.paid']],
  ['eventTypes', Array.from({ length: 51 }, () => 'filing.paid')],
  ['states', []],
  ['states', 'TX'],
  ['states', ['TX', 'TX']],
  ['states.0', ['']],
  ['states.0', ['a state with a long name']],
  ['description', long(501)],
  ['description', 5],
  ['headers', 'x-a: b'],
  ['headers.x-a', { 'x-a': 1 }],
  ['headers.Host', { Host: 'evil' }],
  ['headers.transfer-encoding', { 'transfer-encoding': 'chunked' }],
  ['headers.webhook-id', { 'webhook-id': 'mine' }],
  ['headers.x-a', { 'x-a': 'b\r\nx-c: d' }],
  ['headers.x-a\u0000', { 'x-a\u0000': 'b' }],
  ['headers.x-a', { 'x-a': 'b\u0000c' }],
  ['headers.x-a', { 'x-a': 'b\nc' }],
  ['headers.x-a\r\nhost', { 'x-a\r\nhost': 'b' }],
  ['headers.WEBHOOK-Signature', { 'WEBHOOK-Signature': 'v1,mine' }],
  ['headers.x-a', { 'x-a': '***' }],
  ['format', 'xml'],
  ['payload', 'medium'],
  ['signatures', []],
  ['signatures', 'v1a'],
  ['signatures.0', ['v2']],
  ['signatures', ['v1', 'v1']],
  ['secret', 'whsec_c2hvcnQ='],
  ['secret', 'no prefix'],
  ['secret', 12],
  ['extra', true],
];

const pageCases: readonly Case[] = [
  ['limit', '0'],
  ['limit', '101'],
  ['limit', '-1'],
  ['limit', '1.5'],
  ['limit', 'many'],
  ['limit', ''],
  ['cursor', 'tampered'],
  ['cursor', long(2000)],
  ['extra', '1'],
];

const typesCases: readonly Case[] = [
  ['types', 'filing.unheard_of'],
  ['types', ''],
  ['types', 'filing.paid,,filing.unpaid'],
  ['types', long(3000)],
  ['filingId', ''],
  ['filingId', long(257)],
];

const timeCases: readonly Case[] = [
  ['after', 'yesterday'],
  ['after', '2026-13-01T00:00:00Z'],
  ['before', '2026-11-21'],
  ['before', '10000-01-01T00:00:00Z'],
];

const attemptCases: readonly Case[] = [
  ...pageCases,
  ...timeCases,
  ['eventId', ''],
  ['eventId', long(129)],
  ['filingId', ''],
  ['filingId', long(257)],
  ['outcome', 'fine'],
];

/** Wrong values by operation: of the body's fields beside a right body, or of the query. */
const bodies: Readonly<Record<string, readonly [right: object, cases: readonly Case[]]>> = {
  [`PUT ${A}`]: [
    accountInput,
    [
      ['baseUrl', 'partner.example.com'],
      ['baseUrl', 'ftp://partner.example.com/v1'],
      ['baseUrl', 'https://user:pass@partner.example.com/v1'],
      ['baseUrl', 'https://@partner.example.com/v1'],
      ['baseUrl', 'https://partner.example.com/v1?a=b'],
      ['baseUrl', 'https://partner.example.com/v1#a'],
      ['baseUrl', 'https:///v1'],
      ['baseUrl', 'https://partner.example.com\\v1'],
      ['baseUrl', 'https://partner.example.com/\nv1'],
      ['baseUrl', null],
      ['baseUrl', `https://partner.example.com/${long(3000)}`],
      ['partnerKey', ''],
      ['partnerKey', long(513)],
      ['partnerKey', 'ключ'],
      ['partnerKey', 'key\r\nx: y'],
      ['partnerKey', ' key'],
      ['partnerKey', 42],
      ['pollIntervalMs', 0],
      ['pollIntervalMs', -5],
      ['pollIntervalMs', 1.5],
      ['pollIntervalMs', '15000'],
      ['pollIntervalMs', 1e12],
      ['sweepIntervalMs', 0],
      ['sweepIntervalMs', null],
      ['sweepIntervalMs', 1e15],
      ['stalledAfter', 'P10D'],
      ['due', { Texas: 'P60D' }],
      ['due', { TX: 'P60D', tx: 'P45D' }],
      ['due', { '*': 'sixty days' }],
      ['due', { TX: 'P0D' }],
      ['dueWarnings', ['-P1D']],
      ['dueWarnings', 'P7D'],
      ['dueWarnings', Array.from({ length: 11 }, () => 'P1D')],
      ['stalledAfter', ['P10D']],
      ['stalledAfter', { PENDING: 'ten days' }],
      ['stalledAfter', { PENDING: { after: 'P1D', unless: 'seen' } }],
      ['stalledAfter', { REJECTED: { after: 'P1M', unless: 'seen' } }],
      ['stalledAfter', { PENDING: 'P1M' }],
      ['stalledAfter', { PENDING: 'PT0.9S' }],
      ['stalledAfter', { PENDING: 'P3651D' }],
      ['stalledAfter', { PENDING: '-P1D' }],
      ['stalledAfter', { COMPLETED: 'P1D' }],
      ['stalledAfter', { PENDING: 'P1D', pending: 'P2D' }],
      ['stalledAfter', { 'NO STATUS': 'P1D' }],
      ['stalledAfter', Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`S${i}`, 'P1D']))],
      ['extra', 1],
    ],
  ],
  'PATCH /v1/accounts/one': [
    {},
    [
      ['baseUrl', 'no address'],
      ['partnerKey', ''],
      ['pollIntervalMs', 9],
      ['sweepIntervalMs', '1'],
      ['stalledAfter', { PENDING: 'P1Y' }],
      ['due', { TX: 'P1M' }],
      ['extra', 1],
    ],
  ],
  [`POST ${A}/tokens`]: [
    { name: 'a' },
    [
      ['name', ''],
      ['name', long(101)],
      ['name', 1],
      ['readOnly', 'yes'],
      ['right', 'write'],
      ['right', null],
      ['expiresAt', 'tomorrow'],
      ['expiresAt', '2099-02-30T00:00:00Z'],
      ['expiresAt', '2099-01-01'],
      ['expiresAt', '2001-01-01T00:00:00Z'],
      ['expiresAt', 4_070_908_800],
      ['extra', 1],
    ],
  ],
  [`POST ${S}`]: [{ url: hookUrl }, [...subscriptionCases, ['from', 'yesterday'], ['enabled', 1]]],
  [`PATCH ${S}/{id}`]: [
    {},
    [...subscriptionCases, ['enabled', 'no'], ['enabled', null], ['url', null], ['from', 'yesterday']],
  ],
  [`POST ${S}/{id}/rotate-secret`]: [
    {},
    [
      ['secret', 'whsec_'],
      ['secret', null],
      ['graceMs', -1],
      ['graceMs', 604_800_001],
      ['graceMs', '5'],
      ['graceMs', 0.5],
      ['extra', 1],
    ],
  ],
  [`POST ${S}/{id}/replay`]: [
    { after: '2026-01-02T00:00:00Z' },
    [
      ['after', '2026-13-01T00:00:00Z'],
      ['after', 'now'],
      ['before', '2026-01-01T25:00:00Z'],
      ['before', '2026-01-01T00:00:00Z'],
      ['eventTypes', []],
      ['eventTypes.0', ['nothing']],
      ['filingId', ''],
      ['filingId', long(257)],
      ['filingId', 3],
      ['deadLettersOnly', 'true'],
      ['extra', 1],
    ],
  ],
};

const queries: Readonly<Record<string, readonly Case[]>> = {
  'GET /.well-known/webhook-keys': [
    ['subscription', ''],
    ['subscription', '../accounts'],
    ['subscription', `sub_${long(65)}`],
    ['kid', 'x'],
  ],
  'GET /v1/accounts': pageCases,
  [`POST ${A}/poll`]: [
    ['mode', 'full'],
    ['mode', ''],
    ['extra', '1'],
  ],
  [`GET ${A}/tokens`]: pageCases,
  [`DELETE ${A}/tokens/{id}`]: [
    ['children', 'orphan'],
    ['children', ''],
    ['extra', '1'],
  ],
  [`GET ${S}`]: pageCases,
  [`GET ${S}/{id}/attempts`]: attemptCases,
  [`GET ${A}/attempts`]: [...attemptCases, ['subscription', ''], ['subscription', 'sub_1:dead']],
  [`GET ${S}/{id}/replays`]: pageCases,
  [`POST ${S}/{id}/replay`]: [
    ['dryRun', 'yes'],
    ['dryRun', ''],
    ['extra', '1'],
  ],
  [`GET ${A}/events/{event}`]: [
    ['filingId', ''],
    ['filingId', long(257)],
    ['extra', '1'],
  ],
  [`GET ${A}/events/{event}/deliveries`]: [...pageCases, ['filingId', ''], ['filingId', long(257)]],
  'GET /v1/rejections': [
    ...pageCases,
    ['account', ''],
    ['account', 'No pe'],
    ['state', ''],
    ['state', 'a state with a long name'],
    ['reason', long(201)],
    ['open', 'perhaps'],
    ['seen', 'perhaps'],
    ['told', 'perhaps'],
    ['open', 'perhaps'],
    ['due', 'soon'],
    ['due', '-P1D'],
    ['assignee', ''],
    ['assignee', long(101)],
    ['order', 'id'],
  ],
  [`GET ${S}/{id}/dead-letters`]: pageCases,
  [`GET ${A}/counts`]: [
    ['hours', 0],
    ['hours', 169],
    ['hours', '1.5'],
    ['hours', ''],
    ['extra', '1'],
  ],
  [`GET ${A}/events`]: [...pageCases, ...typesCases, ...timeCases, ['order', 'latest'], ['order', '']],
  [`GET ${A}/events/stream`]: [...typesCases, ['cursor', 'tampered'], ['from', 'later'], ['extra', '1']],
  [`DELETE ${A}/filings/{filingId}/seen`]: [
    ['by', ''],
    ['by', long(101)],
    ['extra', '1'],
  ],
  [`GET ${A}/filings`]: [
    ...pageCases,
    ['seen', 'perhaps'],
    ['assignee', ''],
    ['assignee', long(101)],
    ['status', ''],
    ['status', 'A\u0000B'],
    ['status', long(641)],
    ['q', ''],
    ['q', long(500)],
    ['state', ''],
    ['state', 'a state with a long name'],
    ['columns', 'premiums'],
    ['columns', long(257)],
    ['order', 'latest'],
  ],
};

const headerCases: Readonly<Record<string, readonly Case[]>> = {
  [`POST ${S}`]: [
    ['idempotency-key', long(256)],
    ['idempotency-key', 'schlüssel'],
    ['idempotency-key', ''],
  ],
  [`GET ${A}/events/stream`]: [
    ['last-event-id', 'tampered'],
    ['last-event-id', long(2000)],
  ],
};

const redis = testRedis();
let api: ApiFixture;
let subscription: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  await api.createAccount('one');
  const { id } = await api.ok('POST', S, { url: hookUrl });
  subscription = String(id);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

function split(operation: string): [method: string, path: string] {
  const id = operation.includes('/tokens/') ? 'tok_none' : subscription;
  const [method = '', path = ''] = operation.replace('{id}', id).replace('{event}', 'evt_none').split(' ');
  return [method, path];
}

function title(operation: string, [field, value]: Case): string {
  return `${operation} refuses ${field} ${JSON.stringify(value).slice(0, 60)}`;
}

function expectRefusal(answer: Awaited<ReturnType<ApiFixture['call']>>, field: string): void {
  expect(answer.status).toBe(422);
  expect(answer.headers['content-type']).toContain('application/problem+json');
  const errors = answer.body['errors'] as { path: string; message: string }[];
  expect(errors.map(({ path }) => path)).toEqual([field]);
}

describe('bodies', () => {
  const cases = Object.entries(bodies).flatMap(([operation, [right, all]]) =>
    all.map((one) => [title(operation, one), operation, right, one] as const),
  );
  test.each(cases)('%s', async (_title, operation, right, [field, value]) => {
    const name = field.split('.')[0] ?? '';
    expectRefusal(await api.call(...split(operation), { ...right, [name]: value }), field);
  });

  test.each(Object.keys(bodies))('%s refuses what is not an object', async (operation) => {
    for (const body of ['[]', 'null', '"text"', '5']) {
      // One after the other: the answers are compared with the document of one route.
      const answer = await api.call(...split(operation), body, {
        headers: { 'content-type': 'application/json' },
      });
      expectRefusal(answer, '');
    }
  });
});

describe('queries', () => {
  const cases = Object.entries(queries).flatMap(([operation, all]) =>
    all.map((one) => [title(operation, one), operation, one] as const),
  );
  test.each(cases)('%s', async (_title, operation, [field, value]) => {
    const [method, path] = split(operation);
    expectRefusal(
      await api.call(method, `${path}?${new URLSearchParams({ [field]: String(value) }).toString()}`),
      field,
    );
  });

  test('a parameter given twice is refused', async () => {
    expectRefusal(await api.call('GET', `${S}?limit=1&limit=2`), 'limit');
  });
});

describe('headers', () => {
  const cases = Object.entries(headerCases).flatMap(([operation, all]) =>
    all.map((one) => [title(operation, one), operation, one] as const),
  );
  test.each(cases)('%s', async (_title, operation, [field, value]) => {
    const [method, path] = split(operation);
    const body = method === 'POST' ? { url: hookUrl } : undefined;
    const answer = await api.call(method, path, body, { headers: { [field]: String(value) } });
    expectRefusal(answer, field);
  });
});

test('several wrong values of a request are listed, not only the first', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`unknown${i}`, i]));
  const { body } = await api.call('POST', S, {
    ...wrong,
    url: 'http://10.0.0.1/',
    format: 'xml',
    secret: 'x',
  });
  const paths = (body['errors'] as { path: string }[]).map(({ path }) => path);
  expect(paths.toSorted()).toEqual([...Object.keys(wrong), 'format', 'secret', 'url'].toSorted());
});

test('of more than ten wrong values ten are listed, and the answer says that there are more', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`unknown${i}`, i]));
  const answer = await api.call('POST', S, { ...wrong, url: hookUrl });
  expect(answer.status).toBe(422);
  expect(answer.body['errors']).toHaveLength(10);
  expect(answer.body['detail']).toMatch(/^More than 10 values are not valid; the first are: unknown0, /);
  expect(answer.text.length).toBeLessThan(2_000);
});

test('a body of thousands of values is refused before it is parsed', async () => {
  const states = Array.from({ length: 990 }, () => 'TX');
  expectRefusal(await api.call('POST', S, { url: hookUrl, eventTypes: ['filing.*'], states }), 'states');
  expectRefusal(await api.call('POST', S, { url: hookUrl, states: [...states, ...states] }), '');
  const description = ',[{"'.repeat(100);
  expect(
    (await api.call('POST', S, { url: hookUrl, description, headers: { 'x-a': ',['.repeat(1_000) } })).status,
  ).toBe(201);
});

test('a field of a long name is not repeated in full', async () => {
  const { text } = await api.call('POST', S, { url: hookUrl, [long(200_000)]: 1 });
  expect(text).toContain(`${long(200)}…`);
  expect(text.length).toBeLessThan(2_000);
});

test('a body where none is taken is refused, whatever its kind', async () => {
  const made = await api.call('POST', S, { url: hookUrl });
  const path = `${S}/${String(made.body['id'])}/test`;
  for (const body of ['"text"', '""', '[1]', '[]', '5', 'null', 'false']) {
    expectRefusal(
      await api.call('POST', path, body, { headers: { 'content-type': 'application/json' } }),
      '',
    );
  }
});

test('every operation refuses a query parameter that it does not know, before it does anything', async () => {
  const { id } = await api.ok('POST', S, { url: hookUrl });
  const { paths = {} } = api.app.swagger() as { paths?: Record<string, object> };
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
    );
  for (const [method, path] of operations) {
    const url = path
      .replace('{account}', 'one')
      .replace('{id}', path.includes('/tokens/') ? 'tok_none' : String(id))
      .replace('{replay}', `rpl_1.${String(id)}`)
      .replace('{event}', 'evt_none')
      .replace('{attempt}', `att_1-1.${String(id)}`);
    const body = bodies[`${method} ${path.replace('{account}', 'one')}`]?.[0];
    const answer = await api.call(method, `${url}?dry-run=true`, body);
    expect([method, path, answer.status]).toEqual([method, path, 422]);
    // A body that is missing or wrong is found first.
    if (method === 'GET' || method === 'DELETE') expectRefusal(answer, 'dry-run');
  }
  expect((await api.call('GET', `${S}/${String(id)}`)).status).toBe(200);
  expect(operations.length).toBeGreaterThan(20);
});

test('what is missing is named', async () => {
  expectRefusal(await api.call('POST', S, {}), 'url');
  const { body } = await api.call('PUT', A, {});
  expect(body['errors']).toEqual([
    { path: 'baseUrl', message: 'is required' },
    { path: 'partnerKey', message: 'is required' },
  ]);
});

test('no refusal repeats a key or a secret', async () => {
  const key = 'partner-key-with-\u00e9';
  const { text } = await api.call('PUT', A, { baseUrl: 'x', partnerKey: key });
  expect(text).not.toContain('partner-key-with');
  const answer = await api.call('POST', S, {
    url: hookUrl,
    secret: 'whsec_not-a-secret',
    headers: { authorization: 'Bearer abc\n' },
  });
  expect(answer.text).not.toMatch(/not-a-secret|Bearer abc/);
});

test('every field of every request has a wrong value above', () => {
  interface Documented {
    readonly parameters?: readonly { readonly name: string; readonly in: string }[];
    readonly requestBody?: {
      readonly content: { readonly 'application/json': { readonly schema: { readonly properties: object } } };
    };
  }
  const { paths = {} } = api.app.swagger() as { paths?: Record<string, Record<string, Documented>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operation,
      name: `${method.toUpperCase()} ${path.replace('{account}', 'one')}`,
    })),
  );
  const tested = (cases: readonly Case[] = []) => new Set(cases.map(([field]) => field.split('.')[0]));
  const missing = operations.flatMap(({ name, operation }) => {
    const properties = Object.keys(
      operation.requestBody?.content['application/json'].schema.properties ?? {},
    );
    const named = (where: string) =>
      (operation.parameters ?? []).filter((one) => one.in === where).map((one) => one.name);
    return [
      ...properties.filter((field) => !tested(bodies[name]?.[1]).has(field)),
      ...named('query').filter((field) => !tested(queries[name]).has(field)),
      ...named('header').filter((field) => !tested(headerCases[name]).has(field)),
    ].map((field) => `${name}: ${field}`);
  });
  expect(missing).toEqual([]);
  expect(operations.length).toBeGreaterThan(20);
});
