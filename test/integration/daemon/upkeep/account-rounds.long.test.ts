import { afterAll, expect, test } from 'vitest';
import { createAccountRounds } from '../../../../src/daemon/upkeep/account-rounds.ts';
import { createProduct, testConfig } from '../../../support/daemon/product.ts';
import { storedRecords } from '../../../support/redis/stored-account.ts';
import { storedSchedules } from '../../../support/redis/stored-queues.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
const accounts = 1_200;
let stages = 0;

/** Rounds over 1 200 accounts, all of them scheduled, whose polls no worker takes. */
async function stage() {
  stages += 1;
  const prefix = `${redis.prefix}${stages}`;
  const product = await createProduct(testConfig(prefix, redis.url), {});
  const { stores, pollQueue, clock, keys } = product.parts;
  const settings = { baseUrl: 'https://a.example', partnerKey: 'k', sweepIntervalMs: null };
  await stores.accounts.put('first', { ...settings, pollIntervalMs: 60_000 }, 1);
  const stored = storedRecords(client, keys);
  const schedules = storedSchedules(client, keys);
  const { first = '' } = await stored.accountTexts();
  const names = ['first', ...Array.from({ length: accounts - 1 }, (_, i) => `account-${i}`)];
  await stored.addAccounts(Object.fromEntries(names.map((name) => [name, first])));
  const soon = Date.now() + 30_000;
  await schedules.setDue(soon, ...names);
  const rescheduled: string[] = [];
  const maintained: string[] = [];
  let expected: number | null = null;
  const look = createAccountRounds({
    ...stores,
    pollQueue,
    maintain: async ({ account }) => void maintained.push(account),
    work: { expect: (_, everyMs) => void (expected = everyMs) },
    now: clock.now,
    logger: { warn: (facts: { accounts: string[] }) => void rescheduled.push(...facts.accounts) } as never,
  });
  return {
    look,
    stored,
    schedules,
    soon,
    rescheduled,
    maintained,
    expected: () => expected,
    [Symbol.asyncDispose]: () => product[Symbol.asyncDispose](),
  };
}

test('a look reads a part of the accounts, and a round all of them', async () => {
  await using staged = await stage();
  const { look, maintained, expected } = staged;
  await look();
  expect(maintained.length).toBeLessThan(accounts);
  const first = maintained.length;
  for (let looks = 1; looks < 4; looks += 1) await look();
  expect(maintained.length).toBeLessThanOrEqual(first * 4 + 100);
  expect(new Set(maintained).size).toBe(accounts);
  expect(expected()).toBe(60_000);
});

test('schedules that are missing are found with the next look, however many there are', async () => {
  await using staged = await stage();
  const { look, schedules, rescheduled } = staged;
  const lost = ['first', 'account-7', 'account-1100'];
  await schedules.lose(...lost);
  await look();
  expect(rescheduled.toSorted()).toEqual(lost.toSorted());
});

test.each(['missing', 'overdue'])(
  'a schedule that is %s is repaired although the marks of its polls cannot be read, and so are the others',
  async (fault) => {
    await using staged = await stage();
    const { look, stored, schedules, rescheduled, soon } = staged;
    const broken = ['first', 'account-7', 'account-1100'];
    if (fault === 'missing') await schedules.lose(...broken);
    else await schedules.setDue(soon - 60_000, ...broken);
    await stored.of('account-7').spoilPolling();
    for (let looks = 0; looks < 4; looks += 1) await look();
    expect(rescheduled.toSorted()).toEqual(broken.toSorted());
  },
);
