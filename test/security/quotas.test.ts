import { afterAll, beforeAll, expect, test } from 'vitest';
import { quotaBytesMax } from '../../src/redis/quota/account-quota.ts';
import { registrationsMax } from '../../src/subscriptions/store/subscription-store.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../support/api/api-fixture.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
/** Headers with values of so many bytes in all. */
const long = (bytes: number) =>
  Object.fromEntries(
    Array.from({ length: Math.ceil(bytes / 1_000) }, (_, i) => [
      `x-long-${i}`,
      'x'.repeat(Math.min(1_000, bytes - i * 1_000)),
    ]),
  );
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

async function used(path: string): Promise<number> {
  const { quota } = await api.ok('GET', path);
  expect(quota).toMatchObject({ maxBytes: quotaBytesMax + 25_165_824 });
  return (quota as { usedBytes: number }).usedBytes;
}

/** The account seems to store everything but so many bytes. */
const leave = (account: string, bytes: number) => api.stored.of(account).setUsedBytes(quotaBytesMax - bytes);

async function register(path: string, body: object = {}, key?: string) {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return api.call('POST', `${path}/subscriptions`, { url: hookUrl, ...body }, { headers });
}

test('twenty thousand small subscriptions fit, each with an idempotency key', async () => {
  const path = await api.createAccount('small');
  const before = await used(path);
  await register(path, { eventTypes: ['filing.paid', 'filing.rejected'], description: 'billing' }, 'a key');
  expect(((await used(path)) - before) * 20_000).toBeLessThan(quotaBytesMax);
});

test('what would be too much is refused, and nothing is stored; what is removed makes room', async () => {
  const path = await api.createAccount('full');
  const { id } = (await register(path, { headers: long(3_000) })).body;
  const one = `${path}/subscriptions/${String(id)}`;
  await leave('full', 5_000);
  const stored = await used(path);
  const refused = await register(path, { headers: long(4_000) }, 'refused');
  expect([refused.status, refused.body['code']]).toEqual([409, 'account_quota_exceeded']);
  expect(refused.body['detail']).toContain(`${stored} of at most ${quotaBytesMax} bytes`);
  expect((await api.listAll(`${path}/subscriptions`)).items).toHaveLength(1);

  const longer = await api.call('PATCH', one, { headers: long(7_500) });
  expect([longer.status, longer.body['code']]).toEqual([409, 'account_quota_exceeded']);
  expect(await used(path)).toBe(stored);
  expect((await api.call('PATCH', one, { description: 'short', enabled: false })).status).toBe(200);
  expect((await api.call('PATCH', one, { headers: {} })).status).toBe(200);
  expect((await register(path, { headers: long(4_000) }, 'refused')).status).toBe(201);
  expect((await api.call('DELETE', one)).status).toBe(204);
  expect(await used(path)).toBeLessThan(quotaBytesMax);
});

test('a full account shrinks, is repeated to, and gets tokens', async () => {
  const path = await api.createAccount('shrinking');
  const first = await register(path, { headers: long(100) }, 'first');
  await leave('shrinking', -10_000);
  expect((await register(path, { headers: long(100) }, 'first')).body).toEqual(first.body);
  const one = `${path}/subscriptions/${String(first.body['id'])}`;
  expect((await api.call('PATCH', one, { headers: {} })).status).toBe(200);
  expect((await api.call('PATCH', one, { headers: long(100) })).status).toBe(409);
  const before = await used(path);
  expect((await api.call('POST', `${path}/tokens`, {})).status).toBe(201);
  expect(await used(path)).toBe(before + 1_024);
});

test('of registrations at once no more are stored than fit', async () => {
  const path = await api.createAccount('crowd');
  const empty = await used(path);
  await register(path, { headers: long(500) });
  const each = (await used(path)) - empty;
  await leave('crowd', 5 * each);
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await register(path, { headers: long(500) })).status),
  );
  expect(statuses.filter((status) => status === 201)).toHaveLength(5);
  expect(statuses.filter((status) => status === 409)).toHaveLength(15);
});

test('the count of an account is the count of its records, whatever was done', async () => {
  const path = await api.createAccount('counted');
  const random = seededRandom('PROPERTY_SEED');
  const pick = (count: number) => Math.floor(random() * count);
  const ids: string[] = [];
  for (let i = 0; i < 60; i += 1) {
    const one = `${path}/subscriptions/${ids[pick(ids.length)] ?? 'sub_none'}`;
    const step = pick(5);
    if (step <= 1) {
      const made = await register(path, { headers: long(pick(2_000)) }, step === 0 ? `key ${i}` : undefined);
      ids.push(String(made.body['id']));
    } else if (step === 2) await api.call('PATCH', one, { description: 'd'.repeat(pick(200)) });
    else if (step === 3) await api.call('POST', `${one}/rotate-secret`, {});
    else await api.call('DELETE', one);
  }
  const counted = await used(path);
  await api.stored.of('counted').dropUsedBytes();
  expect(await used(path)).toBe(counted);
  await api.stored.of('counted').setUsedBytes('garbage');
  expect(await used(path)).toBe(counted);
});

test('an account without a count is counted when it is first asked', async () => {
  const path = await api.createAccount('former');
  const empty = await used(path);
  const { id } = (await register(path, { headers: long(1_000) })).body;
  const counted = await used(path);
  await api.stored.of('former').dropUsedBytes();
  await api.stored.of('former').dropRegistrationsCounted();
  expect((await api.call('DELETE', `${path}/subscriptions/${String(id)}`)).status).toBe(204);
  expect([counted > empty, await used(path)]).toEqual([true, empty]);
});

test('idempotency keys count until they expire, and there are so many at most', async () => {
  const path = await api.createAccount('keyed');
  const stored = api.stored.of('keyed');
  const empty = await used(path);
  const { id } = (await register(path, {}, 'first')).body;
  await api.call('DELETE', `${path}/subscriptions/${String(id)}`);
  expect(await used(path)).toBeGreaterThan(empty);
  await stored.expireRegistrations();
  expect([await used(path), await stored.registrationsCounted()]).toEqual([empty, 0]);

  await stored.countRegistrations(registrationsMax, Date.now() + 3_600_000);
  const refused = await register(path, {}, 'one more');
  expect([refused.status, refused.body['code']]).toEqual([409, 'account_quota_exceeded']);
  expect((await register(path)).status).toBe(201);
});

test('a count goes with its account', async () => {
  const path = await api.createAccount('leaving');
  await register(path, { headers: long(1_000) });
  expect(await used(path)).toBeGreaterThan(1_000);
  await api.ok('DELETE', path);
  await api.createAccount('leaving');
  expect(await used(path)).toBe(0);
});
