import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { openQueue } from '../../../../src/redis/jobs/job-queue.ts';
import { createJobWorker, type JobWorkerOptions } from '../../../../src/redis/jobs/job-worker.ts';
import { storedQueue } from '../../../support/redis/stored-queues.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { startSlowLine } from '../../../support/connections/slow-line.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

function fail(error: Error): never {
  throw error;
}

function openWork() {
  const name = `q${randomBytes(4).toString('hex')}`;
  const queue = openQueue<number>(name, client, redis.prefix, fail);
  onTestFinished(() => queue.close());
  function work(options: Pick<JobWorkerOptions<number>, 'process'> & Partial<JobWorkerOptions<number>>) {
    const worker = createJobWorker<number>({
      queue: name,
      prefix: redis.prefix,
      connection: redis.connect(),
      concurrency: 50,
      lockMs: 1_000,
      stalledMs: 300,
      onError: fail,
      onFailed: (_, error) => fail(error),
      ...options,
    });
    onTestFinished(() => worker.close());
    return worker;
  }
  return { queue, work };
}

/** A client over a line that takes some milliseconds in each direction. */
async function slowClient(delayMs: number): Promise<Redis> {
  const line = await startSlowLine(Number(new URL(redis.url).port), { delayMs });
  const slow = new Redis(line.url, { maxRetriesPerRequest: null });
  onTestFinished(async () => {
    slow.disconnect();
    await line[Symbol.asyncDispose]();
  });
  return slow;
}

const jobs = (count: number) => Array.from({ length: count }, (_, i) => ({ name: 'job', data: i }));

test('a worker begins a job when it has it, before it asks over a slow line for those behind', async () => {
  const { queue, work } = openWork();
  await queue.addBulk(jobs(12));
  const activeAtBegin: number[] = [];
  work({
    connection: await slowClient(50),
    async process() {
      activeAtBegin.push(await queue.getActiveCount());
      return 'done';
    },
  });
  await vi.waitFor(() => expect(activeAtBegin).toHaveLength(12), 10_000);
  expect(activeAtBegin[0]).toBeLessThan(6);
});

test('a worker takes jobs faster than one a round trip, and begins them in time', async () => {
  const { queue, work } = openWork();
  await queue.addBulk(jobs(150));
  const delayMs = 20;
  const connection = await slowClient(delayMs);
  // Milliseconds from the taking of a job to its begin.
  const takenMs: number[] = [];
  const startedAt = performance.now();
  work({
    connection,
    async process({ processedOn = 0 }) {
      takenMs.push(Date.now() - processedOn);
      return 'done';
    },
  });
  await vi.waitFor(() => expect(takenMs).toHaveLength(150), 20_000);
  expect(performance.now() - startedAt).toBeLessThan(150 * 2 * delayMs);
  expect(takenMs.filter((ms) => ms > 400).length).toBeLessThan(15);
});

test('a worker that waits takes a new job at once, and a delayed one when it is due', async () => {
  const { queue, work } = openWork();
  const begun: number[] = [];
  work({
    async process({ timestamp, data: delay }) {
      begun.push(Date.now() - timestamp - delay);
      return 'done';
    },
  });
  for (const delay of [0, 0, 400, 1_500, 0]) {
    const before = begun.length;
    // oxlint-disable-next-line no-await-in-loop
    await queue.add('job', delay, { delay });
    // oxlint-disable-next-line no-await-in-loop
    await vi.waitFor(() => expect(begun).toHaveLength(before + 1), { timeout: 5_000, interval: 5 });
  }
  // A worker that did not wait for them would look after two seconds.
  expect(Math.max(...begun)).toBeLessThan(300);
  expect(Math.min(...begun)).toBeGreaterThanOrEqual(0);
});

test('as many jobs are under way as there are places, and the next begins when one ends', async () => {
  const { queue, work } = openWork();
  const ends: (() => void)[] = [];
  work({
    concurrency: 20,
    process: () => new Promise((resolve) => ends.push(() => resolve('done'))),
  });
  await queue.addBulk(jobs(25));
  await vi.waitFor(() => expect(ends).toHaveLength(20), 5_000);
  // Their locks are kept: none is taken for a dead worker's.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(ends).toHaveLength(20);
  ends.shift()?.();
  await vi.waitFor(async () => expect(await queue.getWaitingCount()).toBe(4), 5_000);
  for (let ended = 1; ended < 25; ended += 1) {
    // oxlint-disable-next-line no-await-in-loop
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(0), 5_000);
    ends.shift()?.();
  }
  await vi.waitFor(async () => expect(await queue.getActiveCount()).toBe(0));
});

test('a job that is broken off by a stop is given back, and another process begins it at once', async () => {
  const { queue, work } = openWork();
  const { promise: brokenOff, reject: breakOff } = Promise.withResolvers<'done'>();
  let begun = 0;
  const stopping = work({
    process() {
      begun += 1;
      return brokenOff;
    },
  });
  await queue.add('job', 0);
  await vi.waitFor(() => expect(begun).toBe(1), 5_000);
  const closed = stopping.close();
  const startedAt = performance.now();
  breakOff(new Error('stopped'));
  await closed;
  let again = 0;
  work({
    async process() {
      again += 1;
      return 'done';
    },
  });
  await vi.waitFor(() => expect(again).toBe(1), { timeout: 5_000, interval: 5 });
  expect(performance.now() - startedAt).toBeLessThan(800);
});

test('a job whose worker is gone is begun again, and one that fails is tried again', async () => {
  const { queue, work } = openWork();
  await queue.add('abandoned', 0);
  expect(await storedQueue(client, queue).giveToNobody()).not.toBeNull();
  await queue.add('failing', 0, { attempts: 3, backoff: { type: 'fixed', delay: 100 } });
  const begun: string[] = [];
  const failed: string[] = [];
  work({
    async process({ name, attemptsMade }) {
      begun.push(name);
      if (name === 'failing' && attemptsMade === 0) throw new Error('fails once');
      return 'done';
    },
    onFailed: (_, { message }) => void failed.push(message),
  });
  await vi.waitFor(() => expect(begun.toSorted()).toEqual(['abandoned', 'failing', 'failing']), 5_000);
  expect(failed).toEqual(['fails once']);
});

test('a job that is to be done again comes back after its while, and occupies no place until then', async () => {
  const { queue, work } = openWork();
  const begun: number[] = [];
  work({
    concurrency: 1,
    async process({ data }) {
      begun.push(data);
      return data === 0 && begun.length === 1 ? { again: Date.now() + 300 } : 'done';
    },
  });
  await queue.addBulk(jobs(2));
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 0]), 5_000);
});
