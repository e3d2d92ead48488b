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

test('listeners that keep up share one read of the log, and one behind what was trimmed goes on at its end', async () => {
  let reads = 0;
  const counted = {
    ...log,
    readAfter(...range: Parameters<typeof log.readAfter>) {
      reads += 1;
      return log.readAfter(...range);
    },
  };
  const follower = createLogFollower(counted, 5, { perToken: 9, perAccount: 9, toOne: 9, inAll: 9 });
  const many = Array.from({ length: 9 }, () => follower.follow('a', null));
  // The first look at the log wakes all of them as well.
  const heard = many.map(async (each) => {
    for (;;) {
      const step = await each?.next(at(0), 60_000, never);
      if (step !== null && step !== undefined && step.entries.length > 0) return step.entries.length;
    }
  });
  await many[0]?.next(at(0), 50, never);
  await appendEvent(client, keys.account('a'), { ...paidEvent('f'), id: 'evt_1' }, 1);
  expect(await Promise.all(heard)).toEqual(Array.from({ length: 9 }, () => 1));
  expect(reads).toBe(1);
  for (const id of ['evt_2', 'evt_3'])
    await appendEvent(client, keys.account('a'), { ...paidEvent('f'), id }, 1);
  await expect.poll(async () => (await many[0]?.next(at(2), 10, never))?.entries).toHaveLength(1);
  await log.trim('a', 1_000);
  expect(await many[0]?.next({ position: 1, timeline: '' }, 10, never)).toMatchObject({
    entries: [],
    position: { position: 3 },
  });
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
