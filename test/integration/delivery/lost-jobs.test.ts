import { afterAll, expect, test } from 'vitest';
import { createDeliverQueue } from '../../../src/delivery/deliver-queue.ts';
import { createPollQueue } from '../../../src/polling/schedule/poll-queue.ts';
import { storedQueue } from '../../support/redis/stored-queues.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

function fail(error: Error): never {
  throw error;
}

test('a wake-up that stands in no list is freed, so that its account can be woken, and others stay', async () => {
  const client = redis.connect();
  const queue = createDeliverQueue(client, redis.prefix, fail);
  const waiting = () => queue.jobs.getWaitingCount();
  try {
    await queue.wake('lost');
    // As the script that adds a job leaves it when its last commands are not carried out.
    expect(await storedQueue(client, queue.jobs).loseAllWaiting()).toBe(true);
    await queue.wake('lost');
    await queue.wake('waiting');
    expect(await waiting()).toBe(1);
    const release = () => Promise.all(['lost', 'waiting', 'never'].map(queue.release));
    expect(await release()).toEqual([1, 0, 0]);
    await queue.wake('lost');
    await queue.wake('waiting');
    expect(await waiting()).toBe(2);
    expect(await release()).toEqual([0, 0, 0]);
  } finally {
    await queue.close();
  }
});

test('a poll that was asked for and stands in no list is freed, so that it can be asked for again', async () => {
  const client = redis.connect();
  const polls = createPollQueue(client, redis.prefix, fail);
  try {
    await polls.pollNow('acme', 'sweep');
    expect(await storedQueue(client, polls.jobs).loseAllWaiting()).toBe(true);
    await polls.pollNow('acme', 'sweep');
    expect(await polls.jobs.getWaitingCount()).toBe(0);
    expect(await polls.release('acme')).toBe(1);
    await polls.pollNow('acme', 'sweep');
    expect(await polls.jobs.getWaitingCount()).toBe(1);
  } finally {
    await polls.close();
  }
});
