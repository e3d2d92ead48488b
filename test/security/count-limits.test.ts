import { afterAll, beforeAll, expect, test } from 'vitest';
import { subscriptionsMax } from '../../src/subscriptions/store/subscription-store.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

test('an account has a thousand tokens at most, however many are made at once', async () => {
  const full = await api.createAccount('full');
  const { tokens } = api.deps;
  const settings = { name: 'one of many', right: 'read', expiresAt: null } as const;
  const made = await Promise.all(
    Array.from({ length: 1_200 }, () => tokens.create('full', settings, Date.now())),
  );
  expect(made.filter(({ kind }) => kind === 'made')).toHaveLength(1_000);
  expect(await tokens.list('full')).toHaveLength(1_000);
  const one = await api.call('POST', `${full}/tokens`, { name: 'one more' });
  expect([one.status, one.body['code']]).toEqual([429, 'too_many_tokens']);
});

test('an account has twenty thousand subscriptions at most; what was registered before is still answered', async () => {
  const path = `${await api.createAccount('crowded')}/subscriptions`;
  const register = (key: string) =>
    api.call('POST', path, { url: hookUrl }, { headers: { 'idempotency-key': key } });
  const first = await register('first');
  const others = Array.from({ length: subscriptionsMax - 1 }, (_, i): [string, string] => [`sub_${i}`, '{}']);
  const stored = api.stored.of('crowded');
  await stored.setSubscriptions(Object.fromEntries(others));

  const refused = await register('one more');
  expect([refused.status, refused.body['code']]).toEqual([429, 'too_many_subscriptions']);
  expect((await register('first')).body).toEqual(first.body);
  await stored.dropSubscriptions('sub_0', 'sub_1', 'sub_2');
  const atOnce = await Promise.all(Array.from({ length: 10 }, (_, i) => register(`at once ${i}`)));
  expect(atOnce.filter(({ status }) => status === 201)).toHaveLength(3);
  expect(await stored.subscriptions()).toHaveLength(subscriptionsMax);
});
