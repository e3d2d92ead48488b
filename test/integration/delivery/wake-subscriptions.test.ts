import { expect, test } from 'vitest';
import { Redis } from 'ioredis';
import { startPrivateRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from './drain-harness.ts';

test('a thousand subscriptions disabled at once cost one reading of all, and wake who asked to know', async () => {
  await using server = await startPrivateRedis();
  using clients = new DisposableStack();
  const connect = () => {
    const client = new Redis(server.url);
    clients.defer(() => client.disconnect());
    return client;
  };
  const redis = { url: server.url, prefix: 'crowd', connect, cleanup: async () => undefined };
  await using harness = await createHarness(redis);
  const asked = await harness.subscribe('http://127.0.0.1:1/', { eventTypes: ['subscription.*'] });
  await harness.subscribe('http://127.0.0.1:1/', { eventTypes: ['filing.*'] });

  const before = await readings(harness.redis);
  const disabled = [{ type: 'subscription.disabled', state: '', status: '' }];
  await Promise.all(
    Array.from({ length: 1_000 }, () => harness.waker.wakeMatching(harness.account, disabled)),
  );
  expect((await readings(harness.redis)) - before).toBe(1);
  const jobs = await harness.queue.queues[0].getJobs();
  expect(jobs.map(({ data }) => data.subscription)).toEqual([asked]);
});

/** How often all subscriptions of an account were read. */
async function readings(redis: Pick<Redis, 'info'>): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(/cmdstat_hscan:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}
