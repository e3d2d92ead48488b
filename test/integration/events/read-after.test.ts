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
