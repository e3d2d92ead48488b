import { afterAll, expect, it } from 'vitest';
import { createEventLog } from '../../../src/events/event-log.ts';
import { logBeginning } from '../../../src/events/timeline.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { appendEvent, paidEvent } from '../../support/redis/append-script.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
const keys = createKeys(redis.prefix);

it('keeps what it has read for readers that are to follow, and nothing for a sole one', async () => {
  const log = createEventLog(client, keys);
  for (const filing of ['f1', 'f2', 'f3'])
    // In this order.
    // oxlint-disable-next-line no-await-in-loop
    await appendEvent(client, keys.account('a'), paidEvent(filing), 0);
  const alone = await log.readAfter('a', logBeginning, 2, false);
  const first = await log.readAfter('a', logBeginning, 2);
  expect(first).toEqual(alone);
  expect(first).not.toBe(alone);
  expect(await log.readAfter('a', logBeginning, 2)).toBe(first);
});

it('reads ids of any characters as they were written, oldest or newest first, and none from an empty log', async () => {
  const log = createEventLog(client, keys);
  const filings = ['a"b\\c/d', 'tab\tand\u0000end\u007f', 'Ä-申請-🧾'];
  expect(await log.readAfter('b', logBeginning, 5)).toEqual({ entries: [], more: false });
  for (const filing of filings)
    // In this order.
    // oxlint-disable-next-line no-await-in-loop
    await appendEvent(client, keys.account('b'), paidEvent(filing), 0);
  const { entries } = await log.readAfter('b', logBeginning, 5, false);
  expect(entries.map(({ filingId }) => filingId)).toEqual(filings);
  const before = await log.outlineBefore('b', 3, 5);
  expect(before.map(({ position, filingId }) => [position, filingId])).toEqual([
    [2, filings[1]],
    [1, filings[0]],
  ]);
});
