import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createCountHistory, thinSamples } from '../../../src/filings/count-history.ts';
import { createPollingStore } from '../../../src/polling/store/polling-store.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { storedAccount } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const keys = createKeys(redis.prefix);
const client = redis.connect();
const minuteMs = 60_000;
const start = 29_700_000 * minuteMs; // on a tenth minute
let account: string;
let accounts = 0;
const stored = () => storedAccount(client, keys.account(account));

beforeEach(async () => {
  account = `a${(accounts += 1)}`;
  await createPollingStore(client, keys).begin(account, '');
  await stored().setPolling({ lastCompletePollAt: 1 });
});
afterAll(async () => {
  await redis.cleanup();
});

// As another process: what one remembers does not count.
const note = async (minute: number, paid: number) =>
  createCountHistory(client, keys).note(account, start + minute * minuteMs + 999, async () => ({
    PAID: paid,
    REJECTED: 1,
  }));
const read = async (since = 0) =>
  (await createCountHistory(client, keys).read(account, since)).map(
    ({ at, counts }) => `${(at - start) / minuteMs}: ${counts['PAID']}`,
  );

describe('the history of counts', () => {
  test('keeps the first counts of each minute, whichever process notes them', async () => {
    await note(0, 5);
    await note(0, 6);
    await note(1, 7);
    expect(await read()).toEqual(['0: 5', '1: 7']);
    expect(await read(start + minuteMs)).toEqual(['1: 7']);
  });

  test('asks for the counts once a minute, however many polls end in it', async () => {
    const history = createCountHistory(client, keys);
    let asked = 0;
    const counts = async () => ({ PAID: (asked += 1) });
    for (const ms of [0, 1, minuteMs - 1, minuteMs]) await history.note(account, start + ms, counts);
    expect(asked).toBe(2);
    expect(await read()).toEqual(['0: 1', '1: 2']);
  });

  test('keeps each tenth minute once six hours are over', async () => {
    for (const minute of [0, 1, 2, 360, 361, 362]) await note(minute, minute);
    expect(await read()).toEqual(['0: 0', '360: 360', '361: 361', '362: 362']);
  });

  test('forgets the oldest beyond a week', async () => {
    const minutes = Array.from({ length: 1_400 }, (_, minute) => start + minute * minuteMs);
    await stored().addCounts(minutes, { PAID: 1 });
    await note(20_000, 2);
    expect(await read()).toHaveLength(1_350);
  });

  test('notes nothing of an account that was removed meanwhile', async () => {
    await stored().dropPolling();
    await note(0, 5);
    expect(await stored().keys()).toEqual([]);
  });
});

test('of many samples some are shown, evenly, and always the newest', () => {
  const samples = Array.from({ length: 7 }, (_, at) => ({ at, counts: {} }));
  const shown = (max: number) => thinSamples(samples, max).map(({ at }) => at);
  expect([shown(7), shown(4), shown(3), shown(1)]).toEqual([
    [0, 1, 2, 3, 4, 5, 6],
    [0, 2, 4, 6],
    [0, 3, 6],
    [6],
  ]);
  expect(thinSamples([], 3)).toEqual([]);
});
