import { afterAll, expect, test } from 'vitest';
import { releaseLost } from '../../../../src/daemon/upkeep/release-lost.ts';
import { createProduct, testConfig } from '../../../support/daemon/product.ts';
import { accountName, writeAccounts } from '../../../support/daemon/written-accounts.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('wake-ups that were lost half-way are freed, although the subscriptions of another account cannot be read', async () => {
  await using product = await createProduct(testConfig(redis.prefix, redis.url), {});
  const { parts } = product;
  const { redis: client, keys, stores, drainQueue, pollQueue } = parts;
  await writeAccounts(parts, 2);
  const names = (await stores.accounts.all()).accounts.map(({ account }) => account);
  expect(names).toEqual([accountName(0), accountName(1)]);
  const { subscriptions } = keys.account(accountName(0));
  await client.del(subscriptions);
  await client.set(subscriptions, 'garbage');
  const drain = drainQueue.queues()[0].toKey(`de:drain.${accountName(1)}.sub_1`);
  const poll = pollQueue.queues()[0].toKey(`de:${accountName(0)}.delta`);
  await client.mset(drain, 'no job', poll, 'no job');

  const released: object[] = [];
  const logger = { warn: (facts: object) => void released.push(facts) } as never;
  await releaseLost({ ...stores, drainQueue, pollQueue, logger });
  expect(await client.exists(drain, poll)).toBe(0);
  expect(released).toEqual(names.map((account) => ({ account, released: 1 })));
});
