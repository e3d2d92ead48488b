import { afterAll, expect, test } from 'vitest';
import { eachName } from '../../../../src/accounts/account-slices.ts';
import { releaseLost } from '../../../../src/daemon/upkeep/release-lost.ts';
import { createProduct, testConfig } from '../../../support/daemon/product.ts';
import { accountName, writeAccounts } from '../../../support/daemon/written-accounts.ts';
import { storedAccount } from '../../../support/redis/stored-account.ts';
import { storedQueue } from '../../../support/redis/stored-queues.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('wake-ups that were lost half-way are freed, although subscriptions or jobs of another account cannot be read', async () => {
  await using product = await createProduct(testConfig(redis.prefix, redis.url), {});
  const { parts } = product;
  const { redis: client, keys, stores, deliverQueue, pollQueue } = parts;
  await writeAccounts(parts, 3);
  const names: string[] = [];
  for await (const name of eachName(stores.accounts.slice)) names.push(name);
  expect(names.toSorted()).toEqual([accountName(0), accountName(1), accountName(2)]);
  await storedAccount(client, keys.account(accountName(0))).spoilSubscriptions();
  const deliveries = storedQueue(client, deliverQueue.jobs);
  const polls = storedQueue(client, pollQueue.jobs);
  const delivery = `now.${accountName(2)}`;
  const pollsOf = [0, 2].map((i) => `${accountName(i)}.delta`);
  await deliveries.block(delivery);
  await polls.block(...pollsOf);
  await polls.spoilBlock(`${accountName(1)}.delta`);

  const released: { account: string; released: number }[] = [];
  const logger = { warn: (facts: (typeof released)[number]) => void released.push(facts) } as never;
  await releaseLost({ ...stores, deliverQueue, pollQueue, logger });
  expect([await deliveries.blocked(delivery), await polls.blocked(...pollsOf)]).toEqual([0, 0]);
  expect(released.toSorted((a, b) => (a.account < b.account ? -1 : 1))).toEqual([
    { account: accountName(0), released: 1 },
    { account: accountName(2), released: 2 },
  ]);
});
