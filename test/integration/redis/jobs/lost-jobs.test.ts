import { Queue } from 'bullmq';
import { afterAll, expect, test } from 'vitest';
import { releaseLostJobs } from '../../../../src/redis/jobs/job-queue.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('a job that ends while it is looked at, and is followed by another one, leaves its id to that one', async () => {
  const queue = new Queue('busy', { connection: redis.connect(), prefix: redis.prefix });
  const add = () => queue.add('drain', {}, { deduplication: { id: 'a' } });
  const endsThen = {
    getDeduplicationJobId: (id: string) => queue.getDeduplicationJobId(id),
    async getJobState(job: string) {
      await queue.remove(job);
      await add();
      return queue.getJobState(job);
    },
    backend: queue.backend,
  };
  try {
    const { id: first } = await add();
    expect(await releaseLostJobs(endsThen, ['a'])).toBe(0);
    const second = await queue.getDeduplicationJobId('a');
    expect([second, second === first]).toEqual([expect.any(String), false]);
  } finally {
    await queue.close();
  }
});
