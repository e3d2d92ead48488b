import { randomBytes } from 'node:crypto';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, expect, test, vi } from 'vitest';
import { PromptWorker } from '../../../../src/redis/jobs/prompt-worker.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { startSlowLine } from '../../../support/connections/slow-line.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('a worker begins a job when it has it, before it asks over a slow line for those behind', async () => {
  const name = `q${randomBytes(4).toString('hex')}`;
  const prefix = redis.prefix;
  const queue = new Queue(name, { connection: redis.connect(), prefix });
  await queue.addBulk(Array.from({ length: 12 }, (_, i) => ({ name: 'job', data: i })));
  await using line = await startSlowLine(Number(new URL(redis.url).port), { delayMs: 50 });
  const connection = new Redis(line.url, { maxRetriesPerRequest: null });
  const activeAtBegin: number[] = [];
  const worker = new PromptWorker<number>(
    name,
    async () => void activeAtBegin.push(await queue.getActiveCount()),
    { connection, prefix, concurrency: 50 },
  );
  await vi.waitFor(async () => expect(await queue.getWaitingCount()).toBe(0), 10_000);
  await vi.waitFor(() => expect(activeAtBegin).toHaveLength(12), 10_000);
  expect(activeAtBegin[0]).toBeLessThan(6);
  await worker.close();
  await queue.close();
  connection.disconnect();
});

test('a worker begins the jobs that come with the end of others before it asks over a slow line for more', async () => {
  const name = `q${randomBytes(4).toString('hex')}`;
  const prefix = redis.prefix;
  const queue = new Queue(name, { connection: redis.connect(), prefix });
  await queue.addBulk(Array.from({ length: 150 }, (_, i) => ({ name: 'job', data: i })));
  await using line = await startSlowLine(Number(new URL(redis.url).port), { delayMs: 20 });
  const connection = new Redis(line.url, { maxRetriesPerRequest: null });
  // Milliseconds from the taking of a job to its begin.
  const takenMs: number[] = [];
  const worker = new PromptWorker<number>(
    name,
    async ({ processedOn = 0 }) => void takenMs.push(Date.now() - processedOn),
    { connection, prefix, concurrency: 50 },
  );
  await vi.waitFor(() => expect(takenMs).toHaveLength(150), 20_000);
  // A quarter of them would have waited for longer.
  expect(takenMs.filter((ms) => ms > 400).length).toBeLessThan(15);
  await worker.close();
  await queue.close();
  connection.disconnect();
});
