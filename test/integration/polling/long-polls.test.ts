import { afterAll, expect, test } from 'vitest';
import { createUnsoundAccounts } from '../../../src/accounts/lists/unsound-accounts.ts';
import { createAccountStore } from '../../../src/accounts/account-store.ts';
import { createStayReads } from '../../../src/filings/stay-reads.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createHostLookup } from '../../../src/names/host-lookup.ts';
import { createPartnerConnections } from '../../../src/polling/partner-connections.ts';
import { createAccountPoller } from '../../../src/polling/pollers.ts';
import { defaultDoubtLimits } from '../../../src/polling/doubt/doubt-policy.ts';
import { createPollingStore } from '../../../src/polling/store/polling-store.ts';
import { createRedisClock } from '../../../src/redis/clock.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createSealer } from '../../../src/secrets/seal.ts';
import { partnerRow, startHostilePartner } from '../../support/partner/hostile-partner.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from '../delivery/drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('a wake-up that was lost is made up for while a long sweep goes on, also after an upkeep that failed', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  await using partner = await startHostilePartner(
    Array.from({ length: 150 }, (_, row) => partnerRow(`f${row}`)),
  );
  const secondPage = Promise.withResolvers<void>();
  partner.misbehave = ({ endpoint, offset }) =>
    endpoint === 'filings' && offset > 0 ? { after: secondPage.promise } : undefined;
  const client = redis.connect();
  const keys = createKeys(redis.prefix);
  const intervals = { pollIntervalMs: 60_000, sweepIntervalMs: 3_600_000 };
  const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
  const accounts = createAccountStore({ redis: client, keys, sealer, defaults: intervals });
  const { account } = harness;
  await accounts.put(account, { ...intervals, baseUrl: partner.baseUrl, partnerKey: partner.key }, 1);
  const errors: Error[] = [];
  let upkeeps = 0;
  const clock = createRedisClock(client);
  const partners = createPartnerConnections({
    lookup: createHostLookup(),
    clock,
    random: Math.random,
    partner: { timeoutMs: 60_000, maxRps: 1_000, concurrency: 2 },
    filingBytesMax: 262_144,
    hostBudgets: null,
    onRequest: () => undefined,
  });
  const poll = createAccountPoller({
    partners,
    accounts,
    snapshot: createSnapshotStore(client, keys),
    polling: createPollingStore(client, keys),
    unsound: createUnsoundAccounts(client, keys),
    stays: createStayReads(client, keys),
    clock,
    random: Math.random,
    onEvents: () => undefined,
    wakeMatching: harness.waker.wakeMatching,
    async upkeep(name) {
      upkeeps += 1;
      if (upkeeps === 1) throw new Error('Redis is away');
      await harness.waker.wakeLagging(name);
    },
    upkeepMs: 20,
    filingBytesMax: 262_144,
    doubtLimits: defaultDoubtLimits,
    onError: (error) => void errors.push(error),
    onQuarantined: () => undefined,
    onPoll: () => undefined,
    onUnreadable: () => undefined,
    onUnknownAccount: async () => undefined,
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
  expect(await polled).toBe(true);
  expect(upkeeps).toBeGreaterThan(before);
});
