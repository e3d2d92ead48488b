import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDoor } from '../../src/api/server/door.ts';
import { createApiFixture, operatorToken, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;
let port: number;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix, { timing: { requestMs: 60_000 } });
  await api.createAccount('one');
  port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

/** What the server sends until it closes the connection, on which `bytes` are written and nothing ends. */
async function untilClosed(bytes: string, to = port): Promise<string> {
  const socket = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  socket.write(bytes);
  const answer = await text(socket).catch(() => '');
  socket.destroy();
  return answer;
}

const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
const token = `authorization: Bearer ${operatorToken}\r\n`;
const json = 'host: a\r\ncontent-type: application/json\r\n';
const chunked = (head: string, chunks: string) =>
  `${head}${json}transfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
const tiny = '1\r\n \r\n'.repeat(20_000);

test.each([
  ['signing in', 'POST /v1/session HTTP/1.1\r\n'],
  ['with a token', `PUT /v1/accounts/one HTTP/1.1\r\n${token}`],
  ['without a token', 'PUT /v1/accounts/one HTTP/1.1\r\n'],
  ['to a path that needs none', 'GET /health/live HTTP/1.1\r\n'],
  ['to an unknown path', 'POST /x HTTP/1.1\r\n'],
  ['with an expectation', 'POST /v1/session HTTP/1.1\r\nexpect: 100-continue\r\n'],
  ['with an unknown expectation', 'POST /v1/session HTTP/1.1\r\nexpect: x\r\n'],
])('a body in chunks of one byte, %s, ends its connection', async (_how, head) => {
  expect(statuses(await untilClosed(chunked(head, tiny))).at(-1)).toMatch(/^4|^200/);
});

test('chunks with extensions and trailers of any number end their connection', async () => {
  const head = 'POST /v1/session HTTP/1.1\r\n';
  await untilClosed(chunked(head, '1;a=b\r\n \r\n'.repeat(20_000)));
  const trailers = `${head}${json}transfer-encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(20_000)}`;
  expect(statuses(await untilClosed(trailers))).toEqual(['431']);
});

test('a body in a few hundred chunks is taken', async () => {
  const body = JSON.stringify({ name: 'n'.repeat(60) });
  const chunks = body.replaceAll(/./g, '1\r\n$&\r\n');
  const head = `POST /v1/accounts/one/tokens HTTP/1.1\r\nconnection: close\r\n${token}`;
  expect(statuses(await untilClosed(chunked(head, chunks)))).toEqual(['201']);
});

test.each(['/health/live', '/metrics', '/x', '/v1/accounts', '/docs/', '/v1/session'])(
  'a connection that sends hundreds of requests to %s at once is closed',
  async (path) => {
    let handled = 0;
    const count = () => void (handled += 1);
    api.app.server.on('request', count);
    expect(statuses(await untilClosed(get(path).repeat(600))).length).toBeLessThanOrEqual(8);
    api.app.server.off('request', count);
    // Some more are parsed with the last one that is dispatched.
    expect(handled).toBeLessThan(100);
  },
);

test('hundreds of requests with an unknown expectation, or with bodies, end their connection', async () => {
  const expecting = 'POST / HTTP/1.1\r\nhost: a\r\nexpect: x\r\n\r\n'.repeat(600);
  expect(statuses(await untilClosed(expecting)).length).toBeLessThanOrEqual(8);
  const signIn = `POST /v1/session HTTP/1.1\r\n${json}content-length: 2\r\n\r\n{}`.repeat(600);
  expect(statuses(await untilClosed(signIn)).length).toBeLessThanOrEqual(8);
});

test('a few requests at once are answered, and as many again', async () => {
  const socket = connect(port, '127.0.0.1');
  for (const round of [1, 2, 3]) {
    let answers = '';
    socket.write(get('/health/live').repeat(8));
    for (let seen = 0; seen < 8; seen = statuses(answers).length)
      answers += String((await once(socket, 'data'))[0]);
    expect([round, ...new Set(statuses(answers))]).toEqual([round, '200']);
  }
  socket.destroy();
});

test.each([
  ['without a valid token', 'PUT /v1/accounts/one HTTP/1.1\r\nauthorization: Bearer x\r\n', '401'],
  ['to an unknown path', 'POST /x HTTP/1.1\r\n', '404'],
  ['with a method that the path does not have', 'POST /health/live HTTP/1.1\r\n', '405'],
  ['to an unknown account', `PUT /v1/accounts/two/x HTTP/1.1\r\n${token}`, '404'],
  ['to sign in, of more than 4 KiB', 'POST /v1/session HTTP/1.1\r\n', '413'],
])('the body of a request %s is not read, and its connection ends', async (_how, head, status) => {
  const begun = `${head}${json}content-length: 200000\r\n\r\n{"`;
  expect(statuses(await untilClosed(begun))).toEqual([status]);
});

test('a body to sign in that grows beyond 4 KiB is refused', async () => {
  const grown = chunked('POST /v1/session HTTP/1.1\r\n', `400\r\n${' '.repeat(0x400)}\r\n`.repeat(5));
  expect(statuses(await untilClosed(grown))).toEqual(['413']);
});

test('the same bounds hold before the API has the door', async () => {
  await using door = await openDoor('127.0.0.1', 0, (_request, response) => void response.end());
  const to = Number(new URL(door.url).port);
  expect(statuses(await untilClosed(get('/').repeat(600), to)).length).toBeLessThanOrEqual(8);
  await untilClosed(chunked('POST / HTTP/1.1\r\n', tiny), to);
});
