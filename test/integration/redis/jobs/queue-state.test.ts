import { Queue } from 'bullmq';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createJobWorker } from '../../../../src/redis/jobs/job-worker.ts';
import { readQueueState } from '../../../../src/redis/jobs/queue-state.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

function openQueue(name: string) {
  const prefix = `${redis.prefix}{queues}`;
  const queue = new Queue(name, { connection: client, prefix });
  onTestFinished(() => queue.close());
  const read = (now = Date.now()) => readQueueState(queue, client, now);
  return { queue, prefix, read };
}

test('a queue that never held anything', async () => {
  expect(await openQueue('empty').read()).toEqual({
    name: 'empty',
    paused: false,
    jobs: { waiting: 0, active: 0, delayed: 0, failed: 0 },
    schedulers: { count: 0, late: 0 },
    workers: 0,
    oldestWaitingAt: null,
  });
});

test('jobs are counted by state, also while the queue is paused, and the oldest waiting one is found', async () => {
  const { queue, read } = openQueue('jobs');
  const [first] = await queue.addBulk(['a', 'b', 'c'].map((name) => ({ name, data: {} })));
  await queue.add('later', {}, { delay: 60_000 });
  const before = await read();
  expect(before).toMatchObject({
    jobs: { waiting: 3, active: 0, delayed: 1, failed: 0 },
    oldestWaitingAt: first?.timestamp,
  });
  await queue.pause();
  expect(await read()).toEqual({ ...before, paused: true });
});

test('a job of a later turn waits like any other', async () => {
  const { queue, read } = openQueue('turns');
  const [first] = await queue.addBulk(
    [2, 1].map((priority) => ({ name: 'a', data: {}, opts: { priority } })),
  );
  const state = await read();
  expect(state.jobs).toEqual({ waiting: 2, active: 0, delayed: 0, failed: 0 });
  expect(state.oldestWaitingAt).toBeGreaterThanOrEqual(first?.timestamp ?? Infinity);
});

test('a job that was delayed has waited since it was due', async () => {
  const { queue, read } = openQueue('delayed');
  const job = await queue.add('later', {}, { delay: 3_600_000 });
  await job.promote();
  expect((await read()).oldestWaitingAt).toBe(job.timestamp + 3_600_000);
});

test('a scheduler is late ten seconds after its next job was due', async () => {
  const { queue, read } = openQueue('schedulers');
  const every = 3_600_000;
  await queue.upsertJobScheduler('a', { every, startDate: Date.now() + every });
  await queue.upsertJobScheduler('b', { every: 2 * every, startDate: Date.now() + 2 * every });
  const [next = 0] = (await queue.getJobSchedulers(0, 0, true)).map((scheduler) => scheduler.next);
  expect((await read(next + 9_999)).schedulers).toEqual({ count: 2, late: 0 });
  expect((await read(next + 10_001)).schedulers).toEqual({ count: 2, late: 1 });
});

test('the workers of all processes are counted, and the job that one has taken is active', async () => {
  const { queue, prefix, read } = openQueue('workers');
  const { promise: held, resolve: release } = Promise.withResolvers<'done'>();
  const workers = [1, 2].map(() =>
    createJobWorker({
      queue: 'workers',
      connection: redis.connect(),
      prefix,
      concurrency: 1,
      lockMs: 5_000,
      stalledMs: 2_000,
      process: () => held,
      onError: () => undefined,
      onFailed: () => undefined,
    }),
  );
  await expect.poll(async () => (await read()).workers).toBe(2);
  await queue.add('held', {});
  await expect.poll(async () => (await read()).jobs.active).toBe(1);
  expect((await read()).workers).toBe(2);
  release('done');
  await Promise.all(workers.map((worker) => worker.close()));
  await expect.poll(async () => (await read()).workers).toBe(0);
});
