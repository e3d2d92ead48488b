import { afterAll, expect, test } from 'vitest';
import { createDueTrims } from '../../../../../src/daemon/upkeep/rounds/due-trims.ts';
import { createEventLog } from '../../../../../src/events/event-log.ts';
import { createKeys } from '../../../../../src/redis/keys.ts';
import { storedAccount } from '../../../../support/redis/stored-account.ts';
import { appendEvent, paidEvent } from '../../../../support/redis/append-script.ts';
import { testRedis } from '../../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
const keys = createKeys(redis.prefix);
const log = createEventLog(client, keys);
afterAll(() => redis.cleanup());

/** Trims of logs of 100 000 bytes, and what they report, by a clock of their own. */
function stage() {
  let now = 1_000_000;
  const dropped: [string, number][] = [];
  let kept: number | null = null;
  const trim = createDueTrims({
    log,
    before: () => kept,
    bytesMax: 100_000,
    now: () => now,
    onDropped: (account, events) => void dropped.push([account, events]),
  });
  return {
    trim,
    dropped,
    pass: (ms: number) => void (now += ms),
    keep: (from: number) => void (kept = from),
    append: async (account: string, count: number) => {
      for (let i = 0; i < count; i += 1)
        await appendEvent(client, keys.account(account), paidEvent(`f${i}`), now);
    },
  };
}

const lengthOf = (account: string) => storedAccount(client, keys.account(account)).events();

test('a log that is too long is cut within a minute, also while no clock is believed, and reported', async () => {
  const { trim, dropped, pass, append } = stage();
  await append('a', 100);
  await trim('a');
  expect(await lengthOf('a')).toBe(100);
  await append('a', 300);
  await trim('a');
  expect(await lengthOf('a')).toBe(400);
  pass(60_000);
  await trim('a');
  expect(await lengthOf('a')).toBeLessThan(200);
  expect(dropped).toEqual([['a', 400 - (await lengthOf('a'))]]);
});

test('an event goes when it was kept long enough, without a report', async () => {
  const { trim, dropped, pass, keep, append } = stage();
  await append('b', 3);
  keep(999_000);
  await trim('b');
  expect(await lengthOf('b')).toBe(3);
  pass(1_001);
  keep(1_000_001);
  await trim('b');
  expect(await lengthOf('b')).toBe(0);
  expect(dropped).toEqual([]);
});

test('what has been kept long enough goes as soon as the clock is believed', async () => {
  const { trim, pass, keep, append } = stage();
  await append('believed', 3);
  await trim('believed');
  pass(10);
  keep(1_000_005);
  await trim('believed');
  expect(await lengthOf('believed')).toBe(0);
});
