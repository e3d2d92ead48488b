import { afterAll, expect, test, vi } from 'vitest';
import { createDrainQueue } from '../../../../src/delivery/drain-queue.ts';
import { createDrainWorker } from '../../../../src/delivery/drain-worker.ts';
import { oneShard } from '../../../../src/redis/shards/queue-shards.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

function fail(error: Error): never {
  throw error;
}

test('a slice of a killed worker whose account has moved meanwhile leaves no drain taken where it was', async () => {
  const client = redis.connect();
  let home = 0;
  const shards = {
    ...oneShard(redis.prefix),
    count: () => 2,
    prefix: (shard: number) => `${redis.prefix}:shard${shard}`,
    homeOf: () => home,
    formerHomeOf: () => (home === 0 ? null : 0),
  };
  const queue = createDrainQueue(client, shards, fail);
  const ids = Array.from({ length: 30 }, (_, i) => `sub_${i}`);
  await queue.wakeMany('acme', ids);
  const [former] = queue.queues();
  const [job] = await former.getJobs(['prioritized']);
  // As a worker leaves them that is killed.
  for (const id of ids) await client.set(former.toKey(`de:drain.acme.${id}`), job?.id ?? '');
  home = 1;

  const drained = new Set<string>();
  const connection = redis.connect();
  connection.options.maxRetriesPerRequest = null;
  const worker = createDrainWorker({
    connection,
    shards,
    queue,
    concurrency: 50,
    async drain(_, subscription) {
      drained.add(subscription);
      return { wakeAt: null };
    },
    now: Date.now,
    onError: fail,
  });
  try {
    await vi.waitFor(() => expect(drained.size).toBe(ids.length), 10_000);
    await vi.waitFor(async () => expect(await client.keys(`${redis.prefix}:shard*:de:*`)).toEqual([]), 5_000);
  } finally {
    await worker.close();
    await queue.close();
  }
});
