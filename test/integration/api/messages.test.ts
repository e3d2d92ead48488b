import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountInput, createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { problemCodes } from '../../../src/api/shared/problem.ts';

/** A request that is not right, and the whole `detail` of its answer, or a part of it. */
type Row = readonly [request: string, body: unknown, detail: string | RegExp];

const A = '/v1/accounts/one';
const S = `${A}/subscriptions`;
const known = 'Known: url, eventTypes, states, ';
const opened = 'the operator opens it with DELIVERY_ALLOW_CIDRS';
const time = 'must be a time with its zone, such as 2026-11-21T10:00:00Z';

const rows: readonly Row[] = [
  // URLs of endpoints.
  [`POST ${S}`, { url: 'hooks.example.com' }, 'url is refused: it does not begin with https:// or http://.'],
  [`POST ${S}`, { url: 'https://user:pw@example.com/' }, /it contains user information; .* or in auth\.$/],
  [`POST ${S}`, { url: 'https://example.com/#frag' }, /^url is refused: it has a fragment/],
  [`POST ${S}`, { url: 'https://example.com:22/' }, /^url is refused: port 22 is not permitted; 443 is, /],
  [
    `POST ${S}`,
    { url: 'https://example.com:6379/' },
    /^url is refused: port 6379 is not permitted: it belongs/,
  ],
  [`POST ${S}`, { url: 'https://10.0.0.1/' }, `url is refused: 10.0.0.1 is a private address; ${opened}.`],
  [`POST ${S}`, { url: 'https://169.254.169.254/' }, /169\.254\.169\.254 is a link-local address; /],
  [`POST ${S}`, { url: 'https://example.com/a b' }, 'url is refused: it contains whitespace.'],
  [`POST ${S}`, { url: 'https://example.com./' }, 'url is refused: its host ends in a dot.'],
  [
    `POST ${S}`,
    { url: `https://example.com/${'x'.repeat(2048)}` },
    'url must not have more than 2048 characters.',
  ],
  // Names.
  [
    `POST ${S}`,
    { url: hookUrl, eventTypes: ['filing.rejectd'] },
    /^eventTypes\.0: "filing\.rejectd" is no event type; did you mean filing\.rejected\? Known: \*, filing\.\*(?!.*\bping)/,
  ],
  [
    `POST ${S}`,
    { url: hookUrl, event_types: [] },
    new RegExp(String.raw`^event_types is not known; did you mean eventTypes\? ${known}`),
  ],
  [
    `POST ${S}`,
    { url: hookUrl, status: ['REJECTED'] },
    new RegExp(String.raw`^status is not known; did you mean statuses\? ${known}`),
  ],
  [`POST ${S}`, { URL: hookUrl }, new RegExp(String.raw`^URL is not known; did you mean url\? ${known}`)],
  [
    `POST ${S}`,
    { url: hookUrl, format: 'slck' },
    /^format: "slck" is no format; did you mean slack\? Known: standard/,
  ],
  [
    `POST ${S}`,
    { url: hookUrl, states: ['Texas'] },
    'states.0: "Texas" is no abbreviation of a state, e.g. TX.',
  ],
  [
    `POST ${S}`,
    { url: hookUrl, states: ['new york'] },
    'states.0: "new york" is no abbreviation of a state, e.g. TX.',
  ],
  [`GET ${A}/filings?state=Texas`, undefined, 'state: "Texas" is no abbreviation of a state, e.g. TX.'],
  [
    `GET ${A}/filings?q=acme&state=district+of+columbia`,
    undefined,
    'state: "district of columbia" is no abbreviation of a state, e.g. TX.',
  ],
  ['GET /v1/rejections?state=Texas', undefined, 'state: "Texas" is no abbreviation of a state, e.g. TX.'],
  [`POST ${S}`, { url: hookUrl, states: [''] }, 'states.0: "" is no abbreviation of a state, e.g. TX.'],
  [
    `PUT ${A}`,
    { baseURL: accountInput.baseUrl, partnerKey: 'k' },
    /^baseURL is not known; did you mean baseUrl\? Known: baseUrl, partnerKey, pollIntervalMs, sweepIntervalMs/,
  ],
  [
    `POST ${S}/sub_1/replay`,
    { since: '2026-11-21T10:00:00Z' },
    /^since is not known\. Known: after, before, /,
  ],
  [
    `GET ${A}/events?type=filing.paid`,
    undefined,
    /^type is no query parameter here; did you mean types\? Known: limit, cursor, types, /,
  ],
  [
    `GET ${A}/events?types=filing.rejectd`,
    undefined,
    /^types: "filing\.rejectd" is no event type; did you mean filing\.rejected\?/,
  ],
  [`GET ${A}/events?page=2`, undefined, /^page is no query parameter here\. Known: limit, /],
  [`GET ${A}?x=1`, undefined, 'x is not known: this request takes no query parameters.'],
  [`POST ${A}/poll`, { mode: 'sweep' }, 'mode is not known: this request takes no body.'],
  // Values.
  [`POST ${S}/sub_1/replay`, { after: 'yesterday' }, `after ${time}.`],
  [`POST ${A}/tokens`, { name: 'a', expiresAt: '9999-12-31T23:59:59-01:00' }, `expiresAt ${time}.`],
  [`POST ${A}/tokens`, { name: 'a', expiresAt: '2016-12-31T23:59:60Z' }, /lie in the future; now it is 20/],
  [`POST ${A}/tokens`, { name: 'a', expiresAt: '2099-12-30T23:59:60Z' }, `expiresAt ${time}.`],
  [`POST ${S}`, { url: hookUrl, eventTypes: 'filing.*' }, 'eventTypes must be a list, e.g. ["filing.*"].'],
  [`POST ${S}`, { url: hookUrl, states: 'TX' }, 'states must be a list or null, e.g. ["TX","CA"].'],
  [`POST ${S}`, { url: 5 }, 'url must be a text, e.g. "https://example.com/hooks/filings".'],
  [`POST ${S}`, { url: hookUrl, headers: 'a: b' }, 'headers must be an object, e.g. {"x-team":"filings"}.'],
  [`PUT ${A}`, { ...accountInput, pollIntervalMs: '5' }, 'pollIntervalMs must be a whole number.'],
  [`PUT ${A}`, { ...accountInput, pollIntervalMs: 3 }, 'pollIntervalMs must be >= 10.'],
  [`GET ${A}/events?limit=1000`, undefined, 'limit must be <= 100.'],
  [`GET ${A}/events?limit=many`, undefined, 'limit must be a whole number.'],
  [
    `POST ${S}`,
    { url: hookUrl, headers: { 'Content-Type': 'text/plain' } },
    /^headers\.Content-Type is reserved for this service, the connection or proxies: /,
  ],
  // Bodies that are not JSON.
  [
    `POST ${S}`,
    '{"url":"https://hooks.example.com/",}',
    'The body is not JSON: Expected double-quoted property name in JSON at position 36 (line 1 column 37).',
  ],
  [
    `POST ${S}`,
    '{"url":\n  nope}',
    /^The body is not JSON: Unexpected token .*\{"url":\n {2}nope\}" is not valid/,
  ],
  [`POST ${S}`, '{"url":', 'The body is not JSON: Unexpected end of JSON input.'],
  // Places.
  [
    'GET /v1/accounts/No%20pe',
    undefined,
    'No account has such a name: it is 1 to 64 letters, digits, dots, - and _, the first a letter or digit.',
  ],
  [
    'GET /v1/accounts/nope',
    undefined,
    'GET /v1/accounts lists the accounts; PUT /v1/accounts/{account} creates this one.',
  ],
  [`GET ${A}/`, undefined, `There is no ${A}/; leave out the slash at its end, or see /docs for all paths.`],
];

const redis = testRedis();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  await api.createAccount('one');
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

describe('one problem for one fault, with what to write', () => {
  test.each(rows)('%s %j', async (request, body, detail) => {
    const [method = '', url = ''] = request.split(' ');
    const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const answer = await api.call(method, url, body, { headers });
    const given = String(answer.body['detail']);
    expect(typeof detail === 'string' ? given === detail : detail.test(given), given).toBe(true);
    expect((answer.body['errors'] as unknown[] | undefined)?.length ?? 1).toBe(1);
  });

  test('a Last-Event-ID that is none is named as such', async () => {
    const headers = { 'last-event-id': 'evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f' };
    const { body } = await api.call('GET', `${A}/events/stream`, undefined, { headers });
    expect(body).toMatchObject({
      code: 'invalid_cursor',
      detail: expect.stringMatching(/^Send the last id of this stream in Last-Event-ID, /) as string,
      errors: [{ path: 'last-event-id', message: 'is not valid' }],
    });
  });

  test('each custom header that is refused has an error of its own', async () => {
    const headers = { 'Content-Type': 'text/plain', 'x-a': 'fine', 'x b': 'v', 'X-A': 'again' };
    const { body } = await api.call('POST', S, { url: 'https://10.0.0.1/', headers });
    const paths = (body['errors'] as { path: string }[]).map(({ path }) => path);
    expect(paths).toEqual(['headers.Content-Type', 'headers.x b', 'headers.X-A', 'url']);
  });
});

describe('a token that is not valid', () => {
  const unknown =
    'This token is not known here: it may be mistyped, revoked or expired, or belong to another daemon.';
  const noToken = 'The Authorization header is not the word Bearer, a space and a token. ';
  const cases: readonly [authorization: string | undefined, detail: string][] = [
    [undefined, 'There is no Authorization header. '],
    ['Basic dXNlcjpwYXNz', noToken],
    ['a-token-without-its-scheme', noToken],
    ['secret-word token', noToken],
    ['Bearer', noToken],
    ['Bearer two words', noToken],
    ['Bearer nobody-knows-this-token', unknown],
  ];

  test.each(cases)('%s', async (authorization, detail) => {
    const headers = authorization === undefined ? {} : { authorization };
    const { status, body, text } = await api.call('GET', A, undefined, { token: null, headers });
    const send = 'Send "Authorization: Bearer <token>" with the operator token or an account token.';
    expect([status, body['detail']]).toEqual([401, detail.endsWith(' ') ? detail + send : detail]);
    expect(text).not.toMatch(/dXNlcjpwYXNz|a-token-without|secret-word|nobody-knows/);
  });

  test('reads the same whether it was revoked or never known', async () => {
    const { id, token } = await api.ok('POST', `${A}/tokens`, { name: 'a' });
    expect((await api.call('DELETE', `${A}/tokens/${String(id)}`)).status).toBe(204);
    const { body } = await api.call('GET', A, undefined, { token: String(token) });
    expect(body['detail']).toBe(unknown);
  });
});

test('a read-only token gets 405 for a method that the path never takes, and 403 for one that it may not use', async () => {
  const { token } = await api.ok('POST', `${A}/tokens`, { name: 'a', readOnly: true });
  const as = { token: String(token) };
  expect((await api.call('PATCH', `${A}/events`, undefined, as)).status).toBe(405);
  const refused = await api.call('POST', S, { url: hookUrl }, as);
  expect([refused.status, refused.body['detail']]).toEqual([
    403,
    'This token may only read: use one that was made with the right manage, or triage for notes on filings.',
  ]);
});

test('a large body full of wrong names costs little to answer', async () => {
  const names = Array.from({ length: 990 }, (_, i) => [`eventTypez${i}`.padEnd(200, 'x'), 1]);
  const startedAt = performance.now();
  const answer = await api.call('POST', S, { url: hookUrl, ...Object.fromEntries(names) });
  expect(answer.status).toBe(422);
  expect(answer.text.length).toBeLessThan(6_000);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test('a state that nothing of the account has is warned of', async () => {
  const wanted = { url: hookUrl, states: ['XX', 'tx'] };
  const { id, warnings } = await api.ok('POST', S, wanted);
  expect(warnings).toEqual([]); // no state is known yet
  await api.putFilings('one', [{ id: 'f_tx', status: 'PENDING', document: { stateAbbr: 'TX' } }]);
  const warning = [expect.stringMatching(/has the state XX\. Seen: TX$/)];
  expect((await api.ok('POST', S, wanted))['warnings']).toEqual(warning);
  expect((await api.ok('PATCH', `${S}/${String(id)}`, { states: ['XX'] }))['warnings']).toEqual(warning);
  expect((await api.ok('PATCH', `${S}/${String(id)}`, { description: null }))['warnings']).toEqual([]);
});

test('a token without name, limits and end is made with a warning for each', async () => {
  const { warnings } = await api.ok('POST', `${A}/tokens`, {});
  expect(warnings).toHaveLength(3);
  const settings = { name: 'a', readOnly: false, expiresAt: null };
  expect((await api.ok('POST', `${A}/tokens`, settings))['warnings']).toEqual([]);
});

describe('the type of a problem', () => {
  test('leads to a page about its code, without a token', async () => {
    const { body } = await api.call('GET', '/v1/accounts/nope');
    const page = await api.app.inject(String(body['type']));
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.body).toContain('<h2 id="account_not_found">');
    expect(page.body).toContain('<code>PUT /v1/accounts/{account}</code>');
  });

  test('every code has its part of the page of all', async () => {
    const page = await api.app.inject('/problems');
    const sections = [...page.body.matchAll(/<h2 id="(\w+)">/g)].map(([, code]) => code);
    expect(sections).toEqual(Object.keys(problemCodes));
    expect((await api.app.inject('/problems/unheard_of')).statusCode).toBe(404);
  });
});
