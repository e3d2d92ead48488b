import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createApiFixture, operatorToken, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { expectNone } from '../support/expect-none.ts';

const redis = testRedis();
const inAWeek = new Date(Date.now() + 7 * 86_400_000).toISOString();
const inAYear = new Date(Date.now() + 365 * 86_400_000).toISOString();
let api: ApiFixture;
let path: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  path = await api.createAccount('one');
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

async function make(settings: object, token?: string) {
  const by = token === undefined ? {} : { token };
  return api.call('POST', `${path}/tokens`, { name: 'made', ...settings }, by);
}

test('a token has 256 random bits, and none of its text is stored', async () => {
  const texts = await Promise.all(
    Array.from({ length: 20 }, async () => String((await make({})).body['token'])),
  );
  const secrets = texts.map((text) => /^fwa_([A-Za-z0-9_-]{43})\.one$/.exec(text)?.[1] ?? '');
  expect(new Set(secrets.map((secret) => Buffer.from(secret, 'base64url').length))).toEqual(new Set([32]));
  expect(new Set(secrets).size).toBe(20);
  const stored = JSON.stringify(await api.stored.of('one').tokenTexts());
  expectNone(secrets, (secret) => stored.includes(secret), 'secrets');
});

test('what a token is found by opens nothing: the whole digest has to be right', async () => {
  const { id, token } = (await make({})).body;
  const stored = (await api.stored.of('one').tokenTexts())[String(id)] ?? '';
  const digest = createHash('sha256').update(String(token)).digest('hex');
  const another = digest.slice(0, -1) + (digest.endsWith('0') ? '1' : '0');
  expect(stored).toContain(digest);
  const asked = () => api.call('GET', path, undefined, { token: String(token) });
  expect((await asked()).status).toBe(200);
  await api.stored.of('one').setTokens({ [String(id)]: stored.replace(digest, another) });
  expect((await asked()).status).toBe(401);
  expect((await api.call('GET', path, undefined, { token: String(id) })).status).toBe(401);
});

test('tokens are compared in constant time, digest with digest, right or wrong', async () => {
  const token = String((await make({})).body['token']);
  const compare = vi.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  const lengths = async (text: string) => {
    compare.mockClear();
    await api.call('GET', path, undefined, { token: text });
    return compare.mock.calls.map(([a, b]) => [a.byteLength, b.byteLength]);
  };
  expect(await lengths('wrong')).toEqual([[32, 32]]);
  expect(await lengths(operatorToken.slice(0, -1))).toEqual([[32, 32]]);
  expect(await lengths(operatorToken)).toEqual([[32, 32]]);
  const hexDigests = [64, 64];
  expect(await lengths(token)).toEqual([[32, 32], hexDigests]);
  compare.mockRestore();
  syncBuiltinESMExports();
});

test('tokens go with their account, and do not come back with its name', async () => {
  const left = await api.createAccount('left');
  const { token } = await api.ok('POST', `${left}/tokens`, { name: 'a' });
  const asked = async () => (await api.call('GET', left, undefined, { token: String(token) })).status;
  expect(await asked()).toBe(200);
  await api.ok('DELETE', left);
  expect(await asked()).toBe(401);
  await api.createAccount('left');
  expect(await asked()).toBe(401);
});

/** Tokens by name, each made with the one before it: the first by the operator. */
async function chain(...names: readonly string[]) {
  const made: Record<string, { id: string; token: string }> = {};
  let maker: string | undefined;
  for (const name of names) {
    const { id, token } = (await make({ name }, maker)).body;
    maker = String(token);
    made[name] = { id: String(id), token: maker };
  }
  return made;
}

async function opens(token: string | undefined): Promise<boolean> {
  return (await api.call('GET', path, undefined, { token: token ?? '' })).status === 200;
}

async function parentOf(id: string | undefined): Promise<unknown> {
  const { items } = await api.listAll<{ id: string; parent: string | null }>(`${path}/tokens`);
  return items.find((item) => item.id === id)?.parent;
}

test('a token is shown with the token that made it, and revoked with it and with those above', async () => {
  const { top, middle, low } = await chain('top', 'middle', 'low');
  const beside = (await make({ name: '"parent":"tok_1"' }, top?.token)).body;
  const apart = (await make({ name: `"parent":"${top?.id}"` })).body;
  expect([await parentOf(top?.id), await parentOf(middle?.id), await parentOf(low?.id)]).toEqual([
    null,
    top?.id,
    middle?.id,
  ]);
  expect(beside['parent']).toBe(top?.id);
  const revoked = await api.call('DELETE', `${path}/tokens/${top?.id}`, undefined, {
    token: low?.token ?? '',
  });
  expect(revoked.status).toBe(204);
  const left = [top?.token, middle?.token, low?.token, String(beside['token']), String(apart['token'])];
  expect(await Promise.all(left.map(opens))).toEqual([false, false, false, false, true]);
});

test('tokens that a revoked one made stay where that is asked for', async () => {
  const { top, middle, low } = await chain('top', 'middle', 'low');
  const keep = (id?: string) => api.call('DELETE', `${path}/tokens/${id}?children=keep`);
  expect((await keep(middle?.id)).status).toBe(204);
  expect([await opens(middle?.token), await opens(low?.token)]).toEqual([false, true]);
  expect(await parentOf(low?.id)).toBe(top?.id);
  expect((await keep(top?.id)).status).toBe(204);
  expect([await opens(low?.token), await parentOf(low?.id)]).toEqual([true, null]);
  expect((await api.call('DELETE', `${path}/tokens/${low?.id}?children=all`)).status).toBe(422);
});

test('a token that is revoked makes no more, not even at the same time', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { maker } = await chain('maker');
    const [...made] = await Promise.all([
      ...Array.from({ length: 4 }, () => make({ name: 'raced' }, maker?.token)),
      api.call('DELETE', `${path}/tokens/${maker?.id}`),
    ]);
    const statuses = new Set(made.slice(0, 4).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 201 && status !== 401)).toEqual([]);
  }
  const { items } = await api.listAll<{ name: string }>(`${path}/tokens`);
  expect(items.filter(({ name }) => name === 'raced')).toEqual([]);
});

test('a token needs no settings', async () => {
  const { status, body } = await api.call('POST', `${path}/tokens`);
  expect([status, body['name'], body['readOnly'], body['expiresAt']]).toEqual([201, 'unnamed', false, null]);
});

test.each([
  [{}, 'manage', 'read'],
  [{ readOnly: true }, 'read', 'read'],
  [{ readOnly: false }, 'manage', 'manage'],
  [{ right: 'read', readOnly: true }, 'read', 'read'],
  [{ right: 'triage' }, 'triage', 'triage'],
  [{ right: 'triage', readOnly: false }, 'triage', 'triage'],
  [{ right: 'manage' }, 'manage', 'manage'],
])('%j makes a token with the right %s and a link with the right %s', async (rights, ofToken, ofLink) => {
  const shown = (right: string) => ({ right, readOnly: right === 'read' });
  const { status, body } = await api.call('POST', `${path}/tokens`, { name: 'a', ...rights });
  expect(body).toMatchObject({ ...shown(ofToken), link: false });
  const session = await api.call('GET', '/v1/session', undefined, { token: String(body['token']) });
  expect(session.body).toMatchObject(shown(ofToken));
  const link = await api.ok('POST', `${path}/links`, { expiresInMs: 60_000, ...rights });
  expect([status, link]).toMatchObject([201, shown(ofLink)]);
});

test('a right that contradicts readOnly is refused', async () => {
  for (const given of [
    { right: 'manage', readOnly: true },
    { right: 'read', readOnly: false },
  ]) {
    const { status, body } = await api.call('POST', `${path}/tokens`, given);
    expect([status, body['errors']]).toMatchObject([422, [{ path: 'readOnly' }]]);
  }
});

test('a token that ends makes no token that outlives it', async () => {
  const maker = await make({ expiresAt: inAWeek });
  const token = String(maker.body['token']);
  expect((await make({}, token)).body['expiresAt']).toBe(inAWeek);
  expect((await make({ expiresAt: null }, token)).body['expiresAt']).toBe(inAWeek);
  const tooLate = await make({ expiresAt: inAYear }, token);
  expect([tooLate.status, tooLate.body['code']]).toEqual([422, 'invalid_request']);
  expect((await make({ expiresAt: inAYear })).body['expiresAt']).toBe(inAYear);
});
