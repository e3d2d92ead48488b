import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { publicKeyOf } from '../../../src/subscriptions/signing-secret.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';
import { captureCallback } from '../docs/captured-callback.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

interface Shown {
  readonly id: string;
  readonly secret: string | null;
  readonly signatures: string[];
  readonly publicKeys: { key: string; kid: string; since: string; until: string | null }[];
  readonly dropped?: string[];
}
type Jwk = JsonWebKey & { readonly kid: string };

const redis = testRedis();
const client = redis.connect();
const now = { ahead: 0 };
let api: ApiFixture;
let path: string;
let account: string;
let accounts = 0;

beforeAll(async () => {
  api = await createApiFixture(client, redis.prefix);
});
beforeEach(async () => {
  now.ahead = 0;
  account = `acme-agency-${(accounts += 1)}`;
  path = `${await api.createAccount(account)}/subscriptions`;
});
afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

const ok = async (method: string, url: string, body?: object) =>
  (await api.ok(method, url, body)) as unknown as Shown;
const register = (body: object = {}) => ok('POST', path, { url: hookUrl, ...body });
const published = (id: string, headers: Record<string, string> = {}) =>
  api.call('GET', `/.well-known/webhook-keys?subscription=${id}`, undefined, { token: null, headers });
const keysOf = async (id: string) => (await published(id)).body['keys'] as Jwk[];

/** What the stored subscription sends, verified with each of these keys: the kids whose signature is there. */
async function signers(id: string, keys: readonly Jwk[]): Promise<string[]> {
  const stored = await api.deps.subscriptions.get(account, id);
  if (stored === null) throw new Error('it is gone');
  const { secrets } = stored.subscription;
  const { headers, body } = await captureCallback([], Date.now() + now.ahead, { secrets });
  const {
    'webhook-id': event,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures = '',
  } = headers;
  const content = Buffer.concat([Buffer.from(`${event}.${timestamp}.`), body]);
  const asymmetric = signatures.split(' ').flatMap((text) => text.split('v1a,')[1] ?? []);
  return keys
    .filter((key) => {
      const publicKey = createPublicKey({ key, format: 'jwk' });
      return asymmetric.some((text) => verify(null, content, publicKey, Buffer.from(text, 'base64')));
    })
    .map(({ kid }) => kid);
}

test('with v1a alone there is no secret, and the published key verifies its callbacks', async () => {
  const { id, secret, signatures, publicKeys } = await register({ signatures: ['v1a'] });
  expect({ secret, signatures }).toEqual({ secret: null, signatures: ['v1a'] });
  expect(publicKeys).toEqual([
    {
      key: expect.stringMatching(/^whpk_.{44}$/),
      kid: expect.any(String),
      since: expect.any(String),
      until: null,
    },
  ]);
  const keys = await keysOf(id);
  expect(keys).toEqual([
    {
      kty: 'OKP',
      crv: 'Ed25519',
      use: 'sig',
      alg: 'EdDSA',
      kid: publicKeys[0]?.kid,
      x: Buffer.from(publicKeys[0]?.key.slice('whpk_'.length) ?? '', 'base64').toString('base64url'),
    },
  ]);
  expect(await signers(id, keys)).toEqual(keys.map(({ kid }) => kid));
  const stored = await api.deps.subscriptions.get(account, id);
  expect(stored?.subscription.secrets.map(({ text }) => text.slice(0, 5))).toEqual(['whsk_']);
  const sealed = await api.stored.of(account).subscriptionText(id);
  expect(JSON.parse(sealed ?? '')).toMatchObject({ signatures: ['v1a'] });
});

test('plain subscriptions are stored as before, and have no keys', async () => {
  const { id, secret, signatures, publicKeys } = await register({ signatures: ['v1'] });
  expect({ signatures, publicKeys }).toEqual({ signatures: ['v1'], publicKeys: [] });
  expect(secret).toMatch(/^whsec_/);
  const text = JSON.parse((await api.stored.of(account).subscriptionText(id)) ?? '') as object;
  expect(text).not.toHaveProperty('signatures');
  expect(await published(id)).toMatchObject({ status: 404, body: { code: 'subscription_not_found' } });
  expect(await published(`sub_${'0'.repeat(32)}`)).toMatchObject({ status: 404 });
});

test('a rotation makes a new key at once and signs with the former one, too, until the grace ends', async () => {
  const { id, publicKeys: before } = await register({ signatures: ['v1', 'v1a'] });
  const rotated = await ok('POST', `${path}/${id}/rotate-secret`, { graceMs: 60_000 });
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.publicKeys.map(({ kid }) => kid)).toEqual([expect.any(String), before[0]?.kid]);
  expect(rotated.publicKeys.map(({ until }) => until === null)).toEqual([true, false]);
  const keys = await keysOf(id);
  expect(keys.map(({ kid }) => kid)).toEqual(rotated.publicKeys.map(({ kid }) => kid));
  expect(await signers(id, keys)).toEqual(keys.map(({ kid }) => kid));
  now.ahead = 61_000;
  expect(await signers(id, keys)).toEqual([keys[0]?.kid]);

  await ok('POST', `${path}/${id}/rotate-secret`, { graceMs: 0 });
  const [only, ...others] = await keysOf(id);
  expect(others).toEqual([]);
  expect(keys.map(({ kid }) => kid)).not.toContain(only?.kid);
});

test('a change of the signatures counts from its answer on, and shows a secret that it made', async () => {
  const { id, secret } = await register();
  const both = await ok('PATCH', `${path}/${id}`, { signatures: ['v1a', 'v1'] });
  expect(both.signatures).toEqual(['v1', 'v1a']);
  expect(both).not.toHaveProperty('secret');
  const keys = await keysOf(id);
  expect(await signers(id, keys)).toEqual(both.publicKeys.map(({ kid }) => kid));

  const asymmetric = await ok('PATCH', `${path}/${id}`, { signatures: ['v1a'] });
  expect(asymmetric.publicKeys).toEqual(both.publicKeys);
  expect(asymmetric).not.toHaveProperty('secret');
  const refused = await api.call('PATCH', `${path}/${id}`, { secret });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: 'secret' }] } });

  const plain = await ok('PATCH', `${path}/${id}`, { signatures: ['v1'] });
  expect(plain.secret).toMatch(/^whsec_/);
  expect(plain.secret).not.toBe(secret);
  expect(plain.publicKeys).toEqual([]);
  expect(await published(id)).toMatchObject({ status: 404 });
  // A change of something else leaves all of it as it is.
  expect(await ok('PATCH', `${path}/${id}`, { description: 'x' })).not.toHaveProperty('secret');
});

test('a secret that would sign nothing is refused', async () => {
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const body = { url: hookUrl, signatures: ['v1a'], secret };
  expect(await api.call('POST', path, body)).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'secret', message: expect.stringContaining('"v1"') as string }] },
  });
  const { id } = await register({ signatures: ['v1a'] });
  expect((await api.call('POST', `${path}/${id}/rotate-secret`, { secret })).status).toBe(422);
  const { items } = await api.ok('GET', path);
  expect(items).toHaveLength(1);
  expect(await api.stored.signedBy()).toHaveProperty(id, account);
});

test('a repeated registration shows the same keys and registers nothing twice', async () => {
  const headers = { 'idempotency-key': 'one' };
  const body = { url: hookUrl, signatures: ['v1', 'v1a'] };
  const first = await api.call('POST', path, body, { headers });
  const again = await api.call('POST', path, body, { headers });
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
  const signed = Object.values(await api.stored.signedBy());
  expect(signed.filter((name) => name === account)).toEqual([account]);
});

test('a move to another origin with the token of the account makes new keys', async () => {
  const { token } = await api.ok('POST', `/v1/accounts/${account}/tokens`, { name: 't' });
  const { id, publicKeys } = await register({ signatures: ['v1a'] });
  const moved = { url: 'http://127.0.0.2:9000/hook' };
  const answer = await api.call('PATCH', `${path}/${id}`, moved, { token: String(token) });
  const { dropped, publicKeys: after, ...rest } = answer.body as unknown as Shown;
  expect(dropped).toEqual(['publicKeys']);
  expect(rest).not.toHaveProperty('secret');
  expect(after).toHaveLength(1);
  expect(after[0]?.kid).not.toBe(publicKeys[0]?.kid);
  // The operator may move them.
  const back = await ok('PATCH', `${path}/${id}`, { url: hookUrl });
  expect(back.publicKeys).toEqual(after);
});

test('keys may be kept for five minutes and are not sent again to a client that has them', async () => {
  const { id } = await register({ signatures: ['v1a'] });
  const { headers } = await published(id);
  expect(headers).toMatchObject({
    'content-type': expect.stringContaining('application/jwk-set+json') as string,
    'cache-control': 'public, max-age=300',
  });
  const etag = String(headers['etag']);
  expect(await published(id, { 'if-none-match': etag })).toMatchObject({ status: 304, text: '' });
  await ok('POST', `${path}/${id}/rotate-secret`);
  expect((await published(id, { 'if-none-match': etag })).status).toBe(200);
  expect(
    (await api.call('GET', '/.well-known/webhook-keys?subscripton=x', undefined, { token: null })).status,
  ).toBe(422);
});

test('the list has the keys of all accounts and says nothing else of them', async () => {
  const one = await register({ signatures: ['v1a'] });
  await api.createAccount(`${account}-other`);
  const other = await ok('POST', `/v1/accounts/${account}-other/subscriptions`, {
    url: hookUrl,
    signatures: ['v1', 'v1a'],
  });
  const { body, text } = await api.call('GET', '/.well-known/webhook-keys', undefined, { token: null });
  const kids = (body['keys'] as Jwk[]).map(({ kid }) => kid);
  expect(kids).toEqual(expect.arrayContaining([one, other].map(({ publicKeys }) => publicKeys[0]?.kid)));
  for (const word of [account, one.id, other.id, hookUrl]) expect(text).not.toContain(word);
});

test('a public key that was put into Redis by hand is never published', async () => {
  const { id } = await register({ signatures: ['v1a'] });
  const stored = api.stored.of(account);
  const record = JSON.parse((await stored.subscriptionText(id)) ?? '') as object;
  const text = publicKeyOf(`whpk_${Buffer.alloc(32, 1).toString('base64')}`);
  const privateSettings = JSON.stringify({ secrets: [{ text, expiresAt: null }], headers: {} });
  await stored.setSubscription(id, JSON.stringify({ ...record, privateSettings }));
  const answer = await published(id);
  expect(answer).toMatchObject({ status: 503, body: { code: 'secret_unreadable' } });
  expect(answer.text).not.toContain(account);
});

test('a lost index is made again, and what is left of a removed account leaves it', async () => {
  const { id } = await register({ signatures: ['v1a'] });
  await api.stored.dropSigned();
  expect((await published(id)).status).toBe(404);
  const { mend } = api.deps.publicKeys;
  await mend(account);
  expect((await published(id)).status).toBe(200);

  await api.stored.of(account).dropAllSubscriptions();
  const isKnown = async () => id in (await api.stored.signedBy());
  // A registration might be under way.
  expect([(await published(id)).status, await isKnown()]).toEqual([404, true]);
  const ages = await api.stored.signedAges();
  await api.stored.setSignedSince(id, Date.now() - 3_600_000);
  expect([(await published(id)).status, await isKnown()]).toEqual([404, false]);
  expect(await api.stored.signedAges()).toBe(ages - 1);
});

test('a removed subscription has no keys any more', async () => {
  const { id } = await register({ signatures: ['v1a'] });
  await api.ok('DELETE', `${path}/${id}`);
  expect((await published(id)).status).toBe(404);
  expect(await api.stored.signedBy()).not.toHaveProperty(id);
});
