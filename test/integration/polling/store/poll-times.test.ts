import { afterAll, expect, it, vi } from 'vitest';
import { createPollTimes, type PolledAt } from '../../../../src/polling/store/poll-times.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { storedRecords } from '../../../support/redis/stored-account.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
const keys = createKeys(redis.prefix);
const stored = storedRecords(client, keys);
afterAll(() => redis.cleanup());

it('the account that was polled longest ago is found, without those that are gone', async () => {
  const times = createPollTimes(client, keys);
  expect(await times.oldestPolled()).toBeNull();
  for (const account of ['a', 'b']) await stored.setAccount(account, '{}');
  times.notePolled({ account: 'a', at: 3_000 });
  times.notePolled({ account: 'b', at: 2_000 });
  for (let i = 0; i < 50; i += 1) times.notePolled({ account: `gone-${i}`, at: 1_000 + i });
  await untilOldest({ account: 'b', at: 2_000 });
  expect(await stored.pollTimes()).toBe(2);

  await times.noteUnpolled({ account: 'b', at: 1 });
  times.notePolled({ account: 'b', at: 4_000 });
  await untilOldest({ account: 'a', at: 3_000 });
  times.notePolled({ account: 'a', at: 5_000 });
  await times.forgetPolled('a');
  times.notePolled({ account: 'b', at: 6_000 });
  await untilOldest({ account: 'b', at: 6_000 });
  expect(await stored.pollTimes()).toBe(1);

  async function untilOldest(polled: PolledAt): Promise<void> {
    await vi.waitFor(async () => expect(await times.oldestPolled()).toEqual(polled), 5_000);
  }
});
