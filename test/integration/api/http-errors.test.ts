import type { FastifyInstance } from 'fastify';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testRedis } from '../../support/redis/test-redis.ts';
import {
  accountInput,
  createApiFixture,
  hookUrl,
  operatorToken,
  type Answer,
  type ApiFixture,
} from '../../support/api/api-fixture.ts';
import { expectNone } from '../../support/expect-none.ts';

const redis = testRedis();
let api: ApiFixture;
let port: number;
const json = { 'content-type': 'application/json' };

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  await api.createAccount('one');
  port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.body).toMatchObject({ type: `/problems/${code}`, code, status });
  expect(answer.body['title']).toBeTruthy();
  expect(answer.body['detail']).toBeTruthy();
}

/** Sends bytes that no HTTP client would and returns the whole answer. */
async function sendRaw(bytes: string, to = port): Promise<string> {
  const socket = connect(to, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

test('an unknown path is a problem, with and without a token', async () => {
  expectProblem(await api.call('GET', '/v1/nothing'), 404, 'not_found');
  expectProblem(await api.call('GET', '/nothing', undefined, { token: null }), 404, 'not_found');
  expectProblem(await api.call('GET', '/v1/accounts/one/'), 404, 'not_found');
});

test('another method of a known path answers 405 and says which there are', async () => {
  const answer = await api.call('DELETE', '/v1/accounts/one/events');
  expectProblem(answer, 405, 'method_not_allowed');
  expect(answer.headers['allow']).toBe('GET, HEAD');
  expectProblem(
    await api.call('POST', '/health/live', undefined, { token: null }),
    405,
    'method_not_allowed',
  );
  expectProblem(await api.call('OPTIONS', '/v1/accounts'), 405, 'method_not_allowed');
  expectProblem(
    await api.call('PATCH', '/v1/accounts/one/events', 'x', { headers: { 'content-type': 'text/plain' } }),
    405,
    'method_not_allowed',
  );
});

test('a method that the page does not have answers 405 as well', async () => {
  const plain = { token: null };
  const dashboard = async (app: FastifyInstance) => void app.get('/', async () => 'the page');
  const paged = await createApiFixture(redis.connect(), redis.prefix, { dashboard });
  expect((await paged.call('GET', '/', undefined, plain)).text).toBe('the page');
  expectProblem(await paged.call('POST', '/', undefined, plain), 405, 'method_not_allowed');
  await paged.app.close();
});

test('fields of a body that a route does not read are refused', async () => {
  const answer = await api.call('POST', '/v1/accounts/one/poll', { mode: 'sweep' });
  expectProblem(answer, 422, 'invalid_request');
  expect(answer.body['errors']).toEqual([
    { path: 'mode', message: 'is not known: this request takes no body' },
  ]);
  expect((await api.call('POST', '/v1/accounts/one/poll', {})).status).toBe(202);
});

test('another method is no way around the token', async () => {
  expectProblem(await api.call('PATCH', '/v1/accounts/one', undefined, { token: null }), 401, 'unauthorized');
});

test('HEAD answers as GET does, without the body', async () => {
  const answer = await api.call('HEAD', '/v1/accounts/one');
  expect([answer.status, answer.text]).toEqual([200, '']);
});

test.each(['{', '{"url":', 'nonsense', '{"a":1}}'])('the body %s is malformed', async (body) => {
  const answer = await api.call('POST', '/v1/accounts/one/subscriptions', body, { headers: json });
  expectProblem(answer, 400, 'malformed_json');
  expect(answer.body['detail']).toMatch(/^The body is not JSON: /);
});

test.each(['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{}}}'])(
  'the body %s is refused for its field, not called no JSON',
  async (body) => {
    const answer = await api.call('POST', '/v1/accounts/one/subscriptions', body, { headers: json });
    expectProblem(answer, 400, 'malformed_json');
    expect(answer.body['detail']).toBe(
      'The body has a field that no body may have: __proto__, or constructor with a field prototype. Leave it out.',
    );
  },
);

test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/xml',
  'multipart/form-data; boundary=a',
  'garbage',
])('a body of type %s is not taken', async (type) => {
  const answer = await api.call('POST', '/v1/accounts/one/subscriptions', 'a=b', {
    headers: { 'content-type': type },
  });
  expectProblem(answer, 415, 'unsupported_media_type');
});

test.each([
  { charset: '', status: 400, code: 'malformed_json' },
  { charset: '; charset=utf-8', status: 400, code: 'malformed_json' },
  { charset: '; charset=iso-8859-1', status: 415, code: 'unsupported_media_type' },
  { charset: '; charset="UTF-16"', status: 415, code: 'unsupported_media_type' },
])(
  'a body that is not UTF-8 is not stored as other text (type$charset)',
  async ({ charset, status, code }) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/accounts/one/subscriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': `application/json${charset}` },
      body: Buffer.from(JSON.stringify({ url: hookUrl, description: 'José' }), 'latin1'),
    });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({
      code,
      detail: expect.stringMatching(/Send (it|the body) in UTF-8/),
    });
  },
);

test.each(['; charset=utf-8', ';charset="UTF-8"', '; charset=utf8', '; charset=us-ascii'])(
  'a body in UTF-8 is taken as it is (type%s)',
  async (charset) => {
    const headers = { 'content-type': `application/json${charset}` };
    const body = JSON.stringify({ url: hookUrl, description: 'José 🎉' });
    const answer = await api.call('POST', '/v1/accounts/one/subscriptions', body, { headers });
    expect(answer.body).toMatchObject({ description: 'José 🎉' });
  },
);

test('a body without a type is not taken', async () => {
  const answer = await sendRaw(
    `POST /v1/accounts/one/poll HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${operatorToken}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 415 /);
});

test('declaring JSON without a body is no mistake', async () => {
  expect((await api.call('POST', '/v1/accounts/one/poll', '', { headers: json })).status).toBe(202);
  const { id } = await api.ok('POST', '/v1/accounts/one/subscriptions', { url: hookUrl });
  const path = `/v1/accounts/one/subscriptions/${String(id)}`;
  expect((await api.call('POST', `${path}/rotate-secret`, '', { headers: json })).status).toBe(200);
  expect((await api.call('DELETE', path, '', { headers: json })).status).toBe(204);
});

test('a body of more than 256 KiB is not read', async () => {
  const body = { url: hookUrl, description: 'x'.repeat(256 * 1024) };
  expectProblem(await api.call('POST', '/v1/accounts/one/subscriptions', body), 413, 'payload_too_large');
});

test('a path segment that is too long is a problem', async () => {
  expectProblem(await api.call('GET', `/v1/accounts/one/filings/${'x'.repeat(4000)}`), 414, 'uri_too_long');
  expect((await api.call('GET', `/v1/accounts/${'x'.repeat(9000)}`)).text.length).toBeLessThan(500);
});

test('a path that cannot be decoded is a problem', async () => {
  const answer = await api.call('GET', '/v1/accounts/%zz');
  expectProblem(answer, 400, 'malformed_request');
  expect(answer.body['detail']).toMatch(/percent-encode/);
});

test('a filing whose id is as long as ids can be has a path', async () => {
  const id = '😀/#?%'.repeat(51);
  await api.putFilings('one', [{ id, status: 'PAID' }]);
  const answer = await api.call('GET', `/v1/accounts/one/filings/${encodeURIComponent(id)}`);
  expect(answer.body['filingId']).toBe(id);
});

test('what is not HTTP is answered and the connection closed', async () => {
  expect(await sendRaw('nonsense\r\n\r\n')).toMatch(
    /^HTTP\/1.1 400 [\s\S]*problem\+json[\s\S]*malformed_request/,
  );
  expect(await sendRaw(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 431 [\s\S]*headers_too_large[\s\S]*16 KiB with the path. Send fewer/,
  );
});

const guarded = `authorization: Bearer ${operatorToken}\r\n`;

test.each([
  ['no host', 'GET /health/live HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'malformed_request'],
  [
    'two hosts',
    'GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n',
    400,
    'malformed_request',
  ],
  ['an expectation', 'GET / HTTP/1.1\r\nhost: a\r\nexpect: more\r\n\r\n', 417, 'expectation_failed'],
  [
    'a compressed body',
    `PUT /v1/accounts/z HTTP/1.1\r\nhost: a\r\n${guarded}content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    415,
    'unsupported_media_type',
  ],
])('a request with %s is a problem', async (_what, bytes, status, code) => {
  const answer = await sendRaw(bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*application/problem\\+json`));
  expect(answer).toContain(`"code":"${code}"`);
});

test('HTTP/1.0 needs no host', async () => {
  expect(await sendRaw('GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /);
});

test('a request that does not arrive in time is answered 408, be it in its headers or in its body', async () => {
  const hasty = await createApiFixture(redis.connect(), redis.prefix, { timing: { requestMs: 200 } });
  const own = Number(new URL(await hasty.app.listen({ host: '127.0.0.1', port: 0 })).port);
  const unfinished = [
    'GET / HTTP/1.1\r\nhost: a',
    `PUT /v1/accounts/z HTTP/1.1\r\nhost: a\r\n${guarded}content-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
  ];
  for (const bytes of unfinished) {
    expect(await sendRaw(bytes, own)).toMatch(
      /^HTTP\/1.1 408 [\s\S]*problem\+json[\s\S]*request_timeout[\s\S]*Send it again/,
    );
  }
  await hasty.app.close();
});

test('a caller that goes away in the middle of a body, or whose time is over, is no failure of ours', async () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const logged = await createApiFixture(redis.connect(), redis.prefix, {
    timing: { requestMs: 300 },
    logger: pino({}, { write }),
  });
  const own = Number(new URL(await logged.app.listen({ host: '127.0.0.1', port: 0 })).port);
  const begun = `PUT /v1/accounts/z HTTP/1.1\r\nhost: a\r\n${guarded}content-type: application/json\r\ncontent-length: 9\r\n\r\n{`;
  const leaving = connect(own, '127.0.0.1').on('error', () => {});
  const arrived = once(logged.app.server, 'request');
  leaving.write(begun);
  await arrived;
  leaving.resetAndDestroy();
  await sendRaw(begun, own);
  await logged.app.close();
  expectNone(lines, ({ level }) => Number(level) > 30, 'log lines');
});

test('an internal failure shows nothing of the inside', async () => {
  const broken = await createApiFixture(redis.connect(), redis.prefix, {
    hooks: { ...api.deps.hooks, pollNow: () => Promise.reject(new Error('inner secret at /srv/app')) },
  });
  const answer = await broken.call('POST', '/v1/accounts/one/poll');
  expect(answer.status).toBe(500);
  expect(answer.body['code']).toBe('internal_error');
  expect(answer.text).not.toMatch(/inner secret|srv|at \w+ \(/);
  await broken.app.close();
});

test('an emptied store is reported to every client with a token, before tokens and accounts are looked up', async () => {
  const reason = 'The store was emptied.';
  const refusing = await createApiFixture(redis.connect(), redis.prefix, {
    storeProblem: async () => reason,
  });
  const answers = await Promise.all([
    refusing.call('PUT', '/v1/accounts/two', accountInput),
    refusing.call('POST', '/v1/accounts/one/subscriptions', { url: hookUrl }),
    refusing.call('DELETE', '/v1/accounts/one'),
  ]);
  const token = `fwa_${'x'.repeat(43)}.one`;
  const reads = await Promise.all([
    refusing.call('GET', '/v1/accounts'),
    refusing.call('GET', '/v1/accounts/nobody'),
    refusing.call('GET', '/v1/accounts/one', undefined, { token }),
  ]);
  for (const answer of answers) expectProblem(answer, 503, 'changes_refused');
  for (const answer of reads) expectProblem(answer, 503, 'store_emptied');
  for (const answer of [...answers, ...reads]) {
    expect(answer.body['detail']).toBe(reason);
  }
  expect((await refusing.call('PUT', '/v1/accounts/two', accountInput, { token: null })).status).toBe(401);
  await refusing.app.close();
});

test('answers are not kept, sniffed, framed or run', async () => {
  const { headers } = await api.call('GET', '/v1/accounts/one');
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  });
});
