import { afterAll, expect, test } from 'vitest';
import { createLogFollower } from '../../../src/api/events/log-follower.ts';
import { createEventLog } from '../../../src/events/event-log.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { appendEvent, paidEvent } from '../../support/redis/append-script.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
const keys = createKeys(redis.prefix);
const log = createEventLog(client, keys);
const never = new AbortController().signal;
const at = (position: number) => ({ position, timeline: '' });

test('keeps four megabytes of the latest bodies for listeners, and gives each a megabyte at a time', async () => {
  const follower = createLogFollower(log, 5, { perToken: 1, perAccount: 1, toOne: 1, inAll: 1 });
  using followed = follower.follow('a', null);
  const next = async (position: number) => (await followed?.next(at(position), 10, never))?.entries ?? [];
  // The follower has looked, so that what comes is new to it.
  await next(0);
  const body = JSON.stringify({ notes: 'x'.repeat(500_000) });
  for (let i = 1; i <= 20; i += 1)
    await appendEvent(client, keys.account('a'), { ...paidEvent('f'), id: `evt_${i}`, body }, i);
  await expect.poll(() => next(19)).toHaveLength(1);
  expect((await log.trim('a', 1_000)).removed).toBe(20);
  expect(await next(11)).toEqual([]);
  const kept = await next(12);
  expect(kept.map(({ position }) => position)).toEqual([13, 14]);
  expect((await next(14)).map(({ position }) => position)).toEqual([15, 16]);
  follower.stop();
});

test('where all places are taken, the newest listener of the account with the most makes way for another one', async () => {
  const follower = createLogFollower(log, 5, { perToken: 9, perAccount: 9, toOne: 3, inAll: 4 });
  const many = Array.from({ length: 4 }, () => follower.follow('many', null));
  expect(many.map((each) => each !== null)).toEqual([true, true, true, false]);
  const waits = many.slice(0, 3).map((each) => each?.next(at(0), 60_000, never));
  expect(follower.follow('other', null)).not.toBeNull();
  expect(follower.follow('third', null)).not.toBeNull();
  // The newest of three ended; the others were woken and may wait again.
  expect(await waits[2]).toBeNull();
  expect(await waits[0]).not.toBeNull();
  expect(follower.follow('many', null)).toBeNull();
  expect(follower.follow('fourth', null)).not.toBeNull();
  // Now each account has one, and none makes way for the next.
  for (const ended of many.slice(1)) ended?.[Symbol.dispose]();
  expect(follower.follow('fifth', null)).toBeNull();
  many[0]?.[Symbol.dispose]();
  expect(follower.follow('fifth', null)).not.toBeNull();
  follower.stop();
});

test('an event wakes a few listeners in each turn of the event loop', async () => {
  const follower = createLogFollower(log, 5, { perToken: 1, perAccount: 1, toOne: 40, inAll: 40 });
  const many = Array.from({ length: 40 }, () => follower.follow('loud', null));
  await many[0]?.next(at(0), 10, never);
  let [turn, isOver] = [0, false];
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  // The first look at the log wakes all of them as well.
  const wokenIn = async (each: (typeof many)[number]) => {
    for (;;) {
      const step = await each?.next(at(0), 60_000, never);
      if (step?.entries.length === 1) return turn;
    }
  };
  const woken = many.map(wokenIn);
  await appendEvent(client, keys.account('loud'), { ...paidEvent('f'), id: 'evt_1' }, 1);
  const all = await Promise.all(woken);
  isOver = true;
  expect(new Set(all).size).toBeGreaterThanOrEqual(4);
  follower.stop();
});
