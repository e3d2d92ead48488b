import { afterAll, expect, test, vi } from 'vitest';
import { createDeliverQueue } from '../../../src/delivery/deliver-queue.ts';
import { createDeliverWorker } from '../../../src/delivery/deliver-worker.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createQueueShards, oneShard } from '../../../src/redis/jobs/queue-shards.ts';
import { createProduct, testConfig } from '../../support/daemon/product.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const accounts = ['acme', 'agency-7', 'bluebonnet', 'default', 'oak', 'pine'];

function fail(error: Error): never {
  throw error;
}

test('jobs that stand in another shard than their account wake it in its own, once', async () => {
  const client = redis.connect();
  const { queues } = createKeys(`${redis.prefix}copied`);
  const former = createDeliverQueue(client, oneShard(queues), fail);
  const shards = createQueueShards(queues, 16);
  const queue = createDeliverQueue(client, shards, fail);
  for (const account of accounts) await former.wake(account);
  expect(accounts.some((account) => shards.homeOf(account) !== 0)).toBe(true);
  const runs: string[] = [];
  const connection = redis.connect();
  connection.options.maxRetriesPerRequest = null;
  const worker = createDeliverWorker({
    connection,
    shards,
    queue,
    concurrency: 500,
    async run(account) {
      const home = queue.queues[shards.homeOf(account)];
      const job = await home?.getDeduplicationJobId(`now.${account}`);
      runs.push(`${account} ${job === null ? 'elsewhere' : 'at home'}`);
      return { wakeAt: null };
    },
    now: Date.now,
    onError: fail,
  });
  try {
    const all = accounts.map((account) => `${account} at home`);
    await vi.waitFor(() => expect(runs.toSorted()).toEqual(all.toSorted()), 10_000);
  } finally {
    await worker.close();
    await queue.close();
    await former.close();
  }
});

test('each account is scheduled in its shard, and polled there', async () => {
  await using product = await createProduct(testConfig(`${redis.prefix}polls`, redis.url), {
    overrides: { queueShards: 16 },
  });
  const { pollQueue, shards } = product.parts;
  for (const account of accounts) await pollQueue.schedule(account, 60_000);
  await pollQueue.unschedule('pine');
  const scheduled = await Promise.all(
    pollQueue.queues.map(async (queue, shard) =>
      (await queue.getJobSchedulers(0, -1, true)).map(({ key }) => `${key} ${shard}`),
    ),
  );
  const expected = accounts.slice(0, -1).map((account) => `poll-${account} ${shards.homeOf(account)}`);
  expect(scheduled.flat().toSorted()).toEqual(expected.toSorted());
  expect(new Set(accounts.map(shards.homeOf)).size).toBeGreaterThan(2);
  const waiting = await Promise.all(pollQueue.queues.map((queue) => queue.getWaitingCount()));
  expect(waiting.reduce((sum, count) => sum + count, 0)).toBe(accounts.length);
  const outdated = await pollQueue.outdated(accounts.map((account) => ({ account, pollIntervalMs: 60_000 })));
  expect(outdated.map(({ account }) => account)).toEqual(['pine']);
});
