import { afterAll, expect, test } from 'vitest';
import { drainQueueName } from '../../../src/delivery/drain-queue.ts';
import type { RedisClient } from '../../../src/redis/connection/open-client.ts';
import { createJobWorker } from '../../../src/redis/jobs/job-worker.ts';
import { oneShard } from '../../../src/redis/jobs/queue-shards.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from './drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

// The worker of another process, which does nothing with its drains; without a name, of a former version.
function idleWorker(prefix: string, connection: RedisClient, name: string | undefined) {
  return createJobWorker({
    queue: drainQueueName,
    ...(name === undefined ? {} : { name }),
    connection,
    shards: oneShard(prefix),
    concurrency: 1,
    lockMs: 5_000,
    stalledMs: 2_000,
    process: async () => undefined,
    onError: () => undefined,
    onFailed: () => undefined,
  });
}

test('each process sees how many there are, and how many come before it in an order that is the same for all', async () => {
  await using harness = await createHarness(redis);
  await using stack = new AsyncDisposableStack();
  const prefix = String(harness.queue.queues[0].opts.prefix);
  for (const name of ['b', 'a', undefined, 'c']) {
    const connection = redis.connect();
    connection.options.maxRetriesPerRequest = null;
    const worker = idleWorker(prefix, connection, name);
    stack.defer(() => worker.close());
  }
  await expect.poll(async () => (await harness.queue.ofAll('a')).processes).toBe(4);
  const seen = await Promise.all(['a', 'b', 'c'].map((name) => harness.queue.ofAll(name)));
  expect(seen.map(({ before }) => before)).toEqual([1, 2, 3]);
  expect(await harness.queue.ofAll('another')).toEqual({ underWay: 0, processes: 4, before: null });
});

test('processes of another deployment in another database of the server are not counted', async () => {
  await using harness = await createHarness(redis);
  await using stack = new AsyncDisposableStack();
  const prefix = String(harness.queue.queues[0].opts.prefix);
  for (const [name, database] of [
    ['other', 1],
    ['own', 0],
  ] as const) {
    const connection = redis.connect();
    await connection.select(database);
    Object.assign(connection.options, { db: database, maxRetriesPerRequest: null });
    const worker = idleWorker(prefix, connection, name);
    stack.defer(() => worker.close());
    await expect.poll(() => redis.connect().client('LIST')).toContain(`:w:${name}`);
  }
  expect(await harness.queue.ofAll('own')).toEqual({ underWay: 0, processes: 1, before: 0 });
});
