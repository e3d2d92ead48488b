import { afterAll, expect, test } from 'vitest';
import { releaseLost } from '../../../../src/daemon/upkeep/release-lost.ts';
import { createProduct, testConfig } from '../../../support/daemon/product.ts';
import { accountName, writeAccounts } from '../../../support/daemon/written-accounts.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('wake-ups that were lost half-way are freed, although subscriptions or jobs of another account cannot be read', async () => {
  await using product = await createProduct(testConfig(redis.prefix, redis.url), {});
  const { parts } = product;
  const { redis: client, keys, stores, drainQueue, pollQueue } = parts;
  await writeAccounts(parts, 3);
  const names = (await stores.accounts.all()).accounts.map(({ account }) => account);
  expect(names).toEqual([accountName(0), accountName(1), accountName(2)]);
  const { subscriptions } = keys.account(accountName(0));
  await client.del(subscriptions);
  await client.set(subscriptions, 'garbage');
  const drain = drainQueue.queues[0].toKey(`de:drain.${accountName(2)}.sub_2`);
  const pollOf = (i: number) => pollQueue.queues[0].toKey(`de:${accountName(i)}.delta`);
  const [poll, garbage, last] = [pollOf(0), pollOf(1), pollOf(2)];
  await client.mset(drain, 'no job', poll, 'no job', last, 'no job');
  await client.hset(garbage, 'of another', 'type');

  const released: object[] = [];
  const logger = { warn: (facts: object) => void released.push(facts) } as never;
  await releaseLost({ ...stores, drainQueue, pollQueue, logger });
  expect(await client.exists(drain, poll, last)).toBe(0);
  expect(released).toEqual([
    { account: accountName(0), released: 1 },
    { account: accountName(2), released: 2 },
  ]);
});
