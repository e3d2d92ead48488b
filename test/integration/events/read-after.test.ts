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

it('reads ids of any characters as they were written, oldest or newest first, and none from an empty log', async () => {
  const log = createEventLog(client, keys);
  const filings = ['a"b\\c/d', 'tab\tand\u0000end\u007f', 'Ä-申請-🧾'];
  expect(await log.readAfter('b', logBeginning, 5)).toEqual({ entries: [], more: false });
  for (const filing of filings)
    // In this order.
    // oxlint-disable-next-line no-await-in-loop
    await appendEvent(client, keys.account('b'), paidEvent(filing), 0);
  const { entries } = await log.readAfter('b', logBeginning, 5);
  expect(entries.map(({ filingId }) => filingId)).toEqual(filings);
  const before = await log.outlineBefore('b', 3, 5);
  expect(before.map(({ position, filingId }) => [position, filingId])).toEqual([
    [2, filings[1]],
    [1, filings[0]],
  ]);
});
