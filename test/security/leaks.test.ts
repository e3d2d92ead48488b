import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Redis } from 'ioredis';
import { parsePrivateKey } from '../../src/subscriptions/signing-secret.ts';
import { connectionsOver, createProduct, testConfig } from '../support/daemon/product.ts';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startHostilePartner, type HostilePartner } from '../support/partner/hostile-partner.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { expectNone } from '../support/expect-none.ts';

const word = () => randomBytes(18).toString('base64url');
const signingSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

const fixture = (name: string) =>
  readFileSync(
    new URL(`../integration/callbacks/fixtures/callback-test-${name}.pem`, import.meta.url),
    'utf8',
  );

const redisPassword = word();
const encryptionKey = randomBytes(32).toString('base64');
const given = {
  API_TOKEN: apiToken,
  ENCRYPTION_KEY: encryptionKey,
  REDIS_PASSWORD: redisPassword,
  'partner key of the environment': 'test-partner-key-0123456789',
  'partner key over the API': word(),
  'partner key that is refused': `${word()}\t`,
  'signing secret': signingSecret(),
  'signing secret by PATCH': signingSecret(),
  'signing secret by rotation': signingSecret(),
  'signing secret that is refused': `whsec_${word()}!`,
  'header value': word(),
  'header value that is refused': `${word()}\r\nx: y`,
  'token that is wrong': word(),
  // A line of it.
  'private key of tls': fixture('key').split('\n')[1] ?? '',
  'secret in a body that is no JSON': word(),
};
/**
 * Stands in the URL of a subscription, as in those of Slack: in Redis and in answers to who may change it,
 * and nowhere else.
 */
const wordOfUrl = word();
/** Everything secret of this run by its name, also what the daemon made. */
const secrets: Record<string, string> = { ...given };
const base = '/v1/accounts/default';
const replays: unknown[] = [];
const shownTls: unknown[] = [];
const shownKeys: unknown[] = [];
/** Answers that are no 2xx, with their headers. */
const errors: string[] = [];

let redis: PrivateRedis;
let partner: HostilePartner;
let receiver: Receiver;
let daemon: DaemonProcess;

beforeAll(async () => {
  redis = await startPrivateRedis({
    args: ['--user', 'daemon', 'on', `>${redisPassword}`, '~*', '&*', '+@all', '--rdbcompression', 'no'],
    appendfsync: 'always',
  });
  partner = await startHostilePartner();
  receiver = await startReceiver();
  daemon = await startDaemonProcess({
    REDIS_URL: redis.url.replace('//', `//daemon:${redisPassword}@`),
    ENCRYPTION_KEY: `2026:${encryptionKey}`,
    PARTNER_BASE_URL: partner.baseUrl,
    PARTNER_KEY: given['partner key of the environment'],
    LOG_LEVEL: 'trace',
  });
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await partner[Symbol.asyncDispose]();
  await redis.close();
});

async function call(method: string, path: string, body?: unknown, token: string = apiToken) {
  const response = await fetch(daemon.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) errors.push(JSON.stringify([...response.headers]) + text);
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
}

async function everythingThatHandlesSecrets(): Promise<void> {
  const account = { baseUrl: partner.baseUrl, partnerKey: given['partner key over the API'] };
  await call('PUT', '/v1/accounts/refused', account);
  await call('PUT', '/v1/accounts/bad', { ...account, partnerKey: given['partner key that is refused'] });
  await call('PUT', '/v1/accounts/bad', `{"partnerKey":${given['secret in a body that is no JSON']}`);

  const made = await call('POST', `${base}/tokens`, { name: 'a' });
  secrets['account token'] = String(made.body['token']);
  await call('GET', base, undefined, secrets['account token']);
  await call('GET', '/v1/accounts', undefined, secrets['account token']);
  await call('GET', base, undefined, given['token that is wrong']);

  const headers = { 'x-api-key': given['header value'] };
  const settings = { url: `${receiver.url}?${wordOfUrl}`, secret: given['signing secret'], headers };
  receiver.secrets = [
    given['signing secret'],
    given['signing secret by PATCH'],
    given['signing secret by rotation'],
  ];
  const { id } = (await call('POST', `${base}/subscriptions`, settings)).body;
  const path = `${base}/subscriptions/${String(id)}`;
  const ofOthers = '/v1/accounts/refused/subscriptions';
  const generated = await call('POST', ofOthers, { url: 'http://127.0.0.1:9009/' });
  secrets['signing secret that was generated'] = String(generated.body['secret']);
  expect(secrets['signing secret that was generated']).toMatch(/^whsec_/);
  await call('POST', `${base}/subscriptions`, {
    ...settings,
    secret: given['signing secret that is refused'],
  });
  await call('POST', `${base}/subscriptions`, {
    ...settings,
    headers: { 'x-api-key': given['header value that is refused'] },
  });
  await call('POST', `${path}/test`);
  await call('POST', `${ofOthers}/${String(generated.body['id'])}/test`);
  await everythingOfPrivateKeys(ofOthers);
  // As many frameworks answer to a path that they do not know.
  receiver.answer({ status: 500, body: `Cannot POST /?${wordOfUrl}` });
  partner.put('f_1', { status: 'PAID' });
  await vi.waitFor(async () => expect(receiver.received.length).toBeGreaterThan(2), 15_000);
  await call('PATCH', path, { secret: given['signing secret by PATCH'] });
  await call('POST', `${path}/rotate-secret`, { secret: given['signing secret by rotation'] });
  receiver.answer(200);
  replays.push((await call('POST', `${path}/replay`, {})).body['id']);
  await vi.waitFor(async () => expect(receiver.accepted.length).toBeGreaterThan(0), 15_000);
  const tls = { cert: fixture('cert'), key: fixture('key') };
  const ofTls = { url: 'https://127.0.0.1:9443/', tls };
  const mutual = await call('POST', '/v1/accounts/refused/subscriptions', ofTls);
  const own = `/v1/accounts/refused/subscriptions/${String(mutual.body['id'])}`;
  await call('POST', `${own}/test`);
  shownTls.push(mutual, await call('PATCH', own, { tls: { ...tls, ca: tls.cert } }), await call('GET', own));
  await call('PATCH', own, { tls: { key: tls.key } });
  await call('PATCH', own, { tls: { cert: tls.cert, key: tls.key.replace('MIGH', 'MIGG') } });
  await vi.waitFor(async () => {
    const { body } = await call('GET', '/v1/accounts/refused');
    expect(body['health']).toMatchObject({ state: 'auth_failed' });
  }, 15_000);
}

/** Signs with a private key, changes it twice and sends one where it does not belong. */
async function everythingOfPrivateKeys(path: string): Promise<void> {
  const made = await call('POST', path, { url: receiver.url, signatures: ['v1a'] });
  const id = String(made.body['id']);
  const own = `${path}/${id}`;
  await noteKeysOf(id, 'at first');
  shownKeys.push(made, await call('POST', `${own}/test`));
  shownKeys.push(await call('POST', `${own}/rotate-secret`));
  shownKeys.push(await call('PATCH', own, { signatures: ['v1', 'v1a'], secret: given['signing secret'] }));
  shownKeys.push(await call('POST', `${own}/test`), await call('GET', own));
  await noteKeysOf(id, 'after a rotation');
  const privateKey = secrets['private key of v1a after a rotation'];
  expect((await call('PATCH', own, { secret: privateKey })).status).toBe(422);
  expect((await call('POST', path, { url: receiver.url, secret: privateKey })).status).toBe(422);
  shownKeys.push(await call('GET', `/.well-known/webhook-keys?subscription=${id}`));
}

/** Adds the keys that the store has sealed to the secrets, in the forms in which keys are written. */
async function noteKeysOf(id: string, when: string): Promise<void> {
  const client = new Redis(redis.url);
  const key = Buffer.from(encryptionKey, 'base64');
  await using product = await createProduct(
    { ...testConfig('fw'), encryptionKeys: [{ id: '2026', key }] },
    { overrides: { connections: connectionsOver(client, () => client) } },
  );
  const stored = await product.parts.stores.subscriptions.get('refused', id);
  client.disconnect();
  const text = stored?.subscription.secrets.find((secret) => secret.text.startsWith('whsk_'))?.text ?? '';
  const der = parsePrivateKey(text).export({ format: 'der', type: 'pkcs8' });
  secrets[`private key of v1a ${when}`] = text;
  secrets[`seed of v1a ${when}`] = der.subarray(-32).toString('base64');
  secrets[`PEM of v1a ${when}`] = der.toString('base64');
}

/** The names of the secrets that a text contains, in any of the usual forms. */
function found(text: string): string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
    .map(([name]) => name);
}

function formsOf(secret: string): string[] {
  const bare = secret.replace(/^(whsec_|whsk_|fwa_)/, '').replace(/[\s!].*$/s, '');
  const bytes = Buffer.from(bare);
  const decoded = Buffer.from(bare, 'base64');
  return [
    bare,
    encodeURIComponent(bare),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    decoded.toString('hex'),
    decoded.toString('latin1'),
  ];
}

/** The append-only file and a dump, as somebody with a backup would read them. */
async function redisFiles(): Promise<string> {
  const client = new Redis(redis.url);
  await client.save();
  client.disconnect();
  const paths = readdirSync(redis.directory, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => /\.(aof|rdb)$/.test(path));
  expect(files.filter((path) => path.endsWith('.rdb')).length).toBeGreaterThan(0);
  return files.map((path) => readFileSync(join(redis.directory, path), 'latin1')).join('\n');
}

describe('after a run in which every secret was used', () => {
  beforeAll(everythingThatHandlesSecrets, 60_000);

  test('the search finds what is there', () => {
    const sample = `{"key":"${given['signing secret']}","raw":"${Buffer.from(redisPassword).toString('base64')}"}`;
    expect(found(sample)).toEqual(['REDIS_PASSWORD', 'signing secret']);
  });

  test('logs at trace level contain none', () => {
    const text = daemon.logs.map((line) => JSON.stringify(line)).join('\n');
    expect(text).toContain('http.request');
    expect(text).toContain('delivery.failed');
    expect(text).toContain('poll.failed');
    expect(found(text)).toEqual([]);
    expect(text).not.toContain(wordOfUrl);
  });

  test('answers to what went wrong contain none', () => {
    expect(errors.length).toBeGreaterThan(6);
    expect(found(errors.join('\n'))).toEqual([]);
    expect(errors.join('\n')).not.toContain(wordOfUrl);
  });

  test('answers about a client certificate contain none', () => {
    expect(JSON.stringify(shownTls)).toContain('CN=filing-webhooks test only');
    expect(found(JSON.stringify(shownTls))).toEqual([]);
  });

  test('answers about private keys contain none of them', () => {
    expect(JSON.stringify(shownKeys)).toContain('whpk_');
    expect(Object.keys(secrets)).toContain('PEM of v1a after a rotation');
    // The secret of v1 is new to the subscription, and shown to who has just given it.
    expect(found(JSON.stringify(shownKeys)).filter((name) => name !== 'signing secret')).toEqual([]);
  });

  test('answers that show everything there is contain none', async () => {
    const { body } = await call('GET', `${base}/subscriptions`);
    const ids = (body['items'] as { id: string }[]).map(({ id }) => `${base}/subscriptions/${id}`);
    const paths = [
      '/v1/accounts',
      base,
      `${base}/tokens`,
      `${base}/subscriptions`,
      `${base}/events`,
      `${base}/filings`,
      ...ids.flatMap((path) => [path, `${path}/attempts`, `${path}/dead-letters`]),
    ];
    const answers = await Promise.all(paths.map((path) => call('GET', path)));
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
    expect(JSON.stringify(answers)).toContain(wordOfUrl);
    expect(found(JSON.stringify(answers))).toEqual([]);
  });

  test.each([{ readOnly: true }, { right: 'read' }, { right: 'triage' }])(
    'a token with %j sees where a receiver is, and nothing that gives access to it',
    async (rights) => {
      const { token } = (await call('POST', `${base}/tokens`, rights)).body;
      const read = async (path: string) => call('GET', path, undefined, String(token));
      const { body } = await read(`${base}/subscriptions`);
      const items = body['items'] as { id: string; url: string }[];
      expect(items.map(({ url }) => url)).toEqual([`${new URL(receiver.url).origin}/…`]);
      const ids = items.map(({ id }) => `${base}/subscriptions/${id}`);
      const paths = [
        base,
        ...['tokens', 'subscriptions', 'events', 'filings', 'counts'].map((list) => `${base}/${list}`),
        ...replays.map((id) => `${base}/replays/${String(id)}`),
        ...ids.flatMap((path) => [path, `${path}/attempts`, `${path}/dead-letters`]),
      ];
      const answers = await Promise.all(paths.map(read));
      expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
      expect(JSON.stringify(answers)).not.toContain(wordOfUrl);
      const attempts = (await read(`${ids[0]}/attempts`)).body['items'] as object[];
      expect(attempts.length).toBeGreaterThan(0);
      expectNone(attempts, (attempt) => !('response' in attempt) || attempt.response !== null, 'responses');
      const copied = await call('PATCH', ids[0] ?? '', { url: items[0]?.url });
      expect(copied).toMatchObject({ status: 422, body: { errors: [{ path: 'url' }] } });
      const whole = (await call('GET', ids[0] ?? '')).body['url'];
      expect(whole).toBe(`${receiver.url}?${wordOfUrl}`);
    },
  );

  test.each(['/metrics', '/health/ready', '/health/live', '/openapi.json', '/'])(
    '%s contains none',
    async (path) => {
      const text = await (await fetch(daemon.url + path)).text();
      expect(found(text)).toEqual([]);
      expect(text).not.toContain(wordOfUrl);
    },
  );

  test('every key in Redis begins with the prefix of the deployment', async () => {
    const client = new Redis(redis.url);
    const keys = await client.keys('*');
    client.disconnect();
    expect(keys.length).toBeGreaterThan(20);
    expectNone(keys, (key) => !key.startsWith('fw:'), 'keys');
  });

  test('the append-only file and a dump of Redis contain none, job data included', async () => {
    const text = await redisFiles();
    expect(text).toContain('{~queues}');
    expect(text).toContain(receiver.url);
    expect(found(text)).toEqual([]);
  });
});
