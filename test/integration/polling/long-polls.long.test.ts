import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { createUnsoundAccounts } from '../../../src/accounts/unsound-accounts.ts';
import { createAccountStore } from '../../../src/accounts/account-store.ts';
import { createFilingListStore } from '../../../src/filings/lists/filing-list-store.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createHostLookup } from '../../../src/names/host-lookup.ts';
import { createPartnerConnections } from '../../../src/polling/partner-connections.ts';
import { createAccountPoller } from '../../../src/polling/pollers.ts';
import { createPollingStore } from '../../../src/polling/store/polling-store.ts';
import { createRedisClock } from '../../../src/redis/clock.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createSealer } from '../../../src/secrets/seal.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from '../delivery/drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

type PollerDeps = Parameters<typeof createAccountPoller>[0];

// A poller of one account, as the daemon has it.
async function watch(
  partner: HostilePartner,
  account: string,
  pollIntervalMs: number,
  deps: Partial<PollerDeps>,
) {
  const client = redis.connect();
  const keys = createKeys(redis.prefix);
  const intervals = { pollIntervalMs, sweepIntervalMs: 3_600_000 };
  const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
  const accounts = createAccountStore({ redis: client, keys, sealer, defaults: intervals });
  await accounts.put(account, { ...intervals, baseUrl: partner.baseUrl, partnerKey: partner.key }, 1);
  const clock = createRedisClock(client);
  const polling = createPollingStore(client, keys);
  const poll = createAccountPoller({
    partners: createPartnerConnections({
      lookup: createHostLookup(),
      clock,
      random: Math.random,
      partner: { timeoutMs: 60_000, maxRps: 1_000, concurrency: 2 },
      hostBudgets: null,
      onRequest: () => undefined,
    }),
    accounts,
    snapshot: createSnapshotStore(client, keys),
    polling,
    unsound: createUnsoundAccounts(client, keys),
    filings: createFilingListStore(client, keys),
    clock,
    random: Math.random,
    onEvents: () => undefined,
    wakeMatching: async () => undefined,
    upkeep: async () => undefined,
    upkeepMs: 30_000,
    filingBytesMax: 262_144,
    onError: () => undefined,
    onQuarantined: () => undefined,
    onPoll: () => undefined,
    reportStanding: async () => null,
    unreadable: () => '',
    looks: null,
    beginSweep: async (name, asked) =>
      void (await poll({ account: name, mode: 'sweep', asked }, new AbortController().signal)),
    onUnknownAccount: async () => undefined,
    ...deps,
  });
  return { poll, polling };
}

test('a wake-up that was lost is made up for while a long sweep goes on, also after an upkeep that failed', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  await using partner = await startHostilePartner(
    Array.from({ length: 150 }, (_, row) => partnerRow(`f${row}`)),
  );
  const secondPage = Promise.withResolvers<void>();
  partner.misbehave = ({ endpoint, offset }) =>
    endpoint === 'filings' && offset > 0 ? { after: secondPage.promise } : undefined;
  const { account } = harness;
  const errors: Error[] = [];
  let upkeeps = 0;
  const { poll } = await watch(partner, account, 60_000, {
    wakeMatching: harness.waker.wake,
    async upkeep(name) {
      upkeeps += 1;
      if (upkeeps === 1) throw new Error('Redis is away');
      await harness.waker.wakeIfDue(name);
    },
    upkeepMs: 20,
    onError: (error) => void errors.push(error),
  });
  await harness.subscribe(receiver.url);
  harness.startWorker();
  let isOver = false;
  const polled = poll({ account, mode: 'sweep', asked: true }, new AbortController().signal).finally(() => {
    isOver = true;
  });

  await expect.poll(() => partner.requests.some(({ offset }) => offset > 0), { timeout: 10_000 }).toBe(true);
  // In the log, and nobody is woken: as after a crash in between.
  await harness.append('changed');
  await expect.poll(() => receiver.accepted, { timeout: 10_000 }).toHaveLength(1);
  expect(isOver).toBe(false);
  expect(errors.map(({ message }) => message)).toEqual(['Redis is away']);

  secondPage.resolve();
  const before = upkeeps;
  expect(await polled).toBe('polled');
  expect(upkeeps).toBeGreaterThan(before);
});

test('an account whose key does not open says so, and is told to be stale', async () => {
  await using partner = await startHostilePartner([partnerRow('a')]);
  const job = { account: 'sealed', mode: 'delta', asked: true } as const;
  const { signal } = new AbortController();
  const { poll, polling } = await watch(partner, 'sealed', 60_000, {});
  await poll(job, signal);
  const { generation } = await polling.read('sealed');
  await polling.correct('sealed', generation, { lastCompletePollAt: 1, lastCompleteEndAt: 1 });
  const requests = partner.requests.length;

  const told: string[] = [];
  const sealer = createSealer([{ id: 'another', key: Buffer.alloc(32, 2) }]);
  const defaults = { pollIntervalMs: 60_000, sweepIntervalMs: 3_600_000 };
  const keys = createKeys(redis.prefix);
  const { poll: pollWithout } = await watch(partner, 'sealed', 60_000, {
    accounts: createAccountStore({ redis: redis.connect(), keys, sealer, defaults }),
    onEvents: (_account, events) => void told.push(...events.map(({ type }) => type)),
  });
  for (let polls = 0; polls < 2; polls += 1)
    await expect(pollWithout(job, signal)).rejects.toThrow(/sealed with key "k"/);
  expect((await polling.read('sealed')).lastError).toMatch(/sealed with key "k"/);
  expect(told).toEqual(['account.stale']);
  expect(partner.requests).toHaveLength(requests);

  await poll(job, signal);
  expect((await polling.read('sealed')).lastError).toBe('');
});

test.each([
  [
    'a service that hangs',
    { after: new Promise<never>(() => undefined) },
    /^the poll under way has taken \d s and has not ended$/,
  ],
  [
    'a service that refuses for long',
    { status: 429, headers: { 'retry-after': '50' }, body: '{}' },
    /^rate_limited: .* answered 429.*; the poll goes on after 5\d s$/,
  ],
] as const)('an account is told to be stale while its poll waits for %s', async (_, answer, lastError) => {
  await using partner = await startHostilePartner([partnerRow('f1')]);
  const account = 'status' in answer ? 'refuses' : 'hangs';
  const told: string[] = [];
  const { poll, polling } = await watch(partner, account, 200, {
    onEvents: (of, events) => void told.push(...events.map(({ type }) => `${of} ${type}`)),
    onError: (error) => void told.push(error.message),
  });
  const stop = new AbortController();
  expect(await poll({ account, mode: 'delta', asked: true }, stop.signal)).toBe('polled');
  expect(told).toEqual([]);
  partner.misbehave = () => answer;
  const polled = poll({ account, mode: 'delta', asked: true }, stop.signal);
  await expect.poll(() => told, { timeout: 15_000 }).toEqual([`${account} account.stale`]);
  const marks = await polling.read(account);
  expect(marks.lastError).toMatch(lastError);
  stop.abort();
  await expect(polled).rejects.toThrow('was stopped');
});

test('nothing is left of a poll that took long when it ends while that is written', async () => {
  await using partner = await startHostilePartner([partnerRow('f1')]);
  const account = 'slow';
  const told: string[] = [];
  const { poll, polling } = await watch(partner, account, 200, {
    onEvents: (_of, events) => void told.push(...events.map(({ type }) => type)),
    onError: (error) => void told.push(error.message),
  });
  const { signal } = new AbortController();
  expect(await poll({ account, mode: 'delta', asked: true }, signal)).toBe('polled');
  const answered = Promise.withResolvers<void>();
  partner.misbehave = () => ({ after: answered.promise });
  const { write } = polling;
  let noted = '';
  vi.spyOn(polling, 'write').mockImplementation(async (...args) => {
    const { lastError = '' } = args[2];
    if (lastError !== '' && noted === '') {
      noted = lastError;
      answered.resolve();
      // As over a slow line: the rest of the poll takes less.
      await delay(300);
    }
    return write(...args);
  });
  expect(await poll({ account, mode: 'delta', asked: true }, signal)).toBe('polled');
  expect(noted).toContain('has not ended');
  expect(told.filter((type) => type.startsWith('account.'))).toEqual(['account.stale', 'account.recovered']);
  expect(await polling.read(account)).toMatchObject({ lastError: '', consecutiveFailures: 0 });
});
