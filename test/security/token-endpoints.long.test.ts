import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApi, type ApiCaller } from '../support/api/api-caller.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startRawReceiver } from '../support/receivers/raw-receiver.ts';
import { receiverSecret, startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../support/receivers/token-endpoint.ts';
import { everyText } from '../support/redis/every-text.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';

const base = '/v1/accounts/acme';
const subscriptions = `${base}/subscriptions`;
const echo = ({ headers }: { headers: Readonly<Record<string, unknown>> }) => ({
  status: 500,
  headers: { 'x-echo': String(headers['authorization']) },
  body: `you sent ${String(headers['authorization'])}`,
});

let redis: PrivateRedis;
let tokens: TokenEndpoint;
let [receiver, other]: Receiver[] = [];
let daemon: DaemonProcess;
let holder: ApiCaller;
let reader: ApiCaller;

type Shown = {
  id: string;
  auth: Record<string, unknown> | null;
  dropped?: string[];
  lastError: string | null;
};

async function start(environment: Record<string, string> = {}): Promise<void> {
  daemon = await startDaemonProcess({ REDIS_URL: redis.url, LOG_LEVEL: 'trace', ...environment });
}

beforeAll(async () => {
  [redis, tokens, receiver, other] = await Promise.all([
    startPrivateRedis({ args: ['--rdbcompression', 'no'] }),
    startTokenEndpoint(),
    startReceiver(echo),
    startReceiver(),
  ]);
  await start();
  await daemon.api.ok('PUT', base, { baseUrl: 'http://127.0.0.1:1/v1', partnerKey: 'k' });
  const tokenOf = (body: object) => daemon.api.ok<{ token: string }>('POST', `${base}/tokens`, body);
  holder = openApi(daemon.url, (await tokenOf({ name: 'holder' })).token);
  reader = openApi(daemon.url, (await tokenOf({ name: 'reader', readOnly: true })).token);
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  for (const each of [tokens, receiver, other]) await each?.[Symbol.asyncDispose]();
  await redis.close();
});

const register = async (settings: object = {}) => {
  const body = { url: receiver?.url, secret: receiverSecret, auth: tokens.auth, ...settings };
  return `${subscriptions}/${(await daemon.api.ok<Shown>('POST', subscriptions, body)).id}`;
};
const errorsOf = async (method: string, path: string, body: object) => {
  const answer = await daemon.api.call<{ errors?: { path: string; message: string }[] }>(method, path, body);
  return [answer.status, ...(answer.body.errors ?? []).map(({ path: of }) => of)];
};

test('neither the secret of a client nor a token is in answers, logs or Redis', async () => {
  const path = await register();
  await using malformed = await startRawReceiver((socket, n) => {
    const [, sent = ''] = /^authorization: (.*)\r$/im.exec(malformed.requests[n - 1] ?? '') ?? [];
    socket.end(`HTTP/1.1 500 No\r\nyou sent ${sent}\r\n\r\n`);
  });
  const toMalformed = await daemon.api.call<{ reason: string }>(
    'POST',
    `${await register({ url: malformed.url })}/test`,
  );
  expect(toMalformed.body.reason).toBe('The answer is not valid HTTP/1.1 (Invalid header token).');
  const answers = [
    toMalformed,
    await daemon.api.call('POST', `${path}/test`),
    await daemon.api.call('GET', path),
    await daemon.api.call('GET', subscriptions),
    await holder.call('PATCH', path, { auth: { ...tokens.auth, audience: 'https://a.example' } }),
    await daemon.api.call('POST', `${path}/test`),
    await reader.call('GET', path),
    await daemon.api.call('POST', subscriptions, { url: receiver?.url, auth: { ...tokens.auth, scope: 7 } }),
  ];
  expect(JSON.stringify(answers)).toContain('you sent Bearer ***');
  const { clientId, clientSecret } = tokens.auth;
  const [id, secret] = [clientId, clientSecret].map((text) =>
    new URLSearchParams([['', text]]).toString().slice(1),
  );
  const hidden = [clientSecret, String(secret), btoa(`${id}:${secret}`), ...tokens.granted];
  expect(hidden.length).toBeGreaterThan(3);
  const stored = await storedTexts();
  expect(stored.includes('privateSettings')).toBe(true);
  for (const text of hidden) {
    expect(JSON.stringify(answers)).not.toContain(text);
    expect(JSON.stringify(daemon.logs)).not.toContain(text);
    expect(stored.includes(text)).toBe(false);
  }
});

/** Every key of the store with its value. */
async function storedTexts(): Promise<string> {
  const client = new Redis(redis.url);
  const text = await everyText(client);
  client.disconnect();
  return text;
}

test('a read-only token sees the origin of the token endpoint, and what it sees is refused as a setting', async () => {
  const path = await register();
  const { auth } = await reader.ok<Shown>('GET', path);
  const { origin } = new URL(tokens.auth.tokenUrl);
  expect(auth).toMatchObject({
    tokenUrl: `${origin}/…`,
    clientSecret: '***',
    clientId: tokens.auth.clientId,
  });
  expect(await errorsOf('PATCH', path, { auth: { ...tokens.auth, tokenUrl: `${origin}/…` } })).toEqual([
    422,
    'auth.tokenUrl',
  ]);
  expect(await errorsOf('PATCH', path, { auth: { ...tokens.auth, clientSecret: '***' } })).toEqual([
    422,
    'auth.clientSecret',
  ]);
  expect((await reader.call('PATCH', path, { auth: null })).status).toBe(403);
  expect((await daemon.api.ok<Shown>('PATCH', path, { auth: null })).auth).toBeNull();
});

test('a callback has one authorization: its own header or a token', async () => {
  const headers = { AUTHORIZATION: 'Bearer mine' };
  expect(await errorsOf('POST', subscriptions, { url: receiver?.url, auth: tokens.auth, headers })).toEqual([
    422,
    'headers.AUTHORIZATION',
  ]);
  const path = await register();
  expect(await errorsOf('PATCH', path, { headers })).toEqual([422, 'headers.AUTHORIZATION']);
  expect(await daemon.api.ok('PATCH', path, { headers, auth: null })).toMatchObject({ auth: null });
  expect(await errorsOf('PATCH', path, { auth: tokens.auth })).toEqual([422, 'headers.AUTHORIZATION']);
});

test('a move to another origin leaves the credentials behind, and the new place gets no token', async () => {
  const path = await register();
  const moved = await holder.ok<Shown>('PATCH', path, { url: other?.url });
  expect(moved).toMatchObject({ auth: null, dropped: ['auth', 'secret'] });
  const before = tokens.requests.length;
  await daemon.api.ok('POST', `${path}/test`);
  expect(tokens.requests).toHaveLength(before);
  expect(other?.received.concat().map(({ headers }) => headers['authorization'])).toEqual(
    (other?.received ?? []).map(() => undefined),
  );
});

test('a token URL is under the egress policy when it is given and when it is asked', async () => {
  const path = await register();
  const withUrl = (tokenUrl: string) => ({ auth: { ...tokens.auth, tokenUrl } });
  for (const url of [
    'http://10.0.0.1/t',
    'http://[::ffff:7f00:1]/t',
    'http://0xa9fea9fe/t',
    'https://u:p@a.example/',
  ])
    for (const [method, to, rest] of [
      ['POST', subscriptions, { url: receiver?.url }],
      ['PATCH', path, {}],
    ] as const)
      expect([url, ...(await errorsOf(method, to, { ...rest, ...withUrl(url) }))]).toEqual([
        url,
        422,
        'auth.tokenUrl',
      ]);
  // The same subscription under rules that refuse the address, which only the dial can see.
  await daemon[Symbol.asyncDispose]();
  await start({ DELIVERY_ALLOW_CIDRS: '10.9.0.0/16' });
  const before = tokens.requests.length;
  const answer = await daemon.api.ok<{ outcome: string; reason: string }>('POST', `${path}/test`);
  expect(answer.outcome).toBe('token_error');
  expect(answer.reason).toContain('does not lead to public addresses on a permitted port');
  expect(tokens.requests).toHaveLength(before);
});
