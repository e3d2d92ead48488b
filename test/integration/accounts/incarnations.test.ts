import { setImmediate as turn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { createAccountStore, type AccountStore } from '../../../src/accounts/account-store.ts';
import { createTokenStore } from '../../../src/accounts/token-store.ts';
import { buildOperationalEvent } from '../../../src/events/event.ts';
import type { FilingState } from '../../../src/filings/detection/filing-state.ts';
import { SnapshotLostError } from '../../../src/filings/commit/commit-writer.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createPollingStore } from '../../../src/polling/store/polling-store.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createSealer } from '../../../src/secrets/seal.ts';
import { partnerRow, startHostilePartner } from '../../support/partner/hostile-partner.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { storedRecords } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount, type SeenEvent } from '../../support/partner/watched-account.ts';
import { createHarness } from '../delivery/drain-harness.ts';
import { expectNone } from '../../support/expect-none.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
const keys = createKeys(redis.prefix);
const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
const intervals = { pollIntervalMs: 60_000, sweepIntervalMs: 3_600_000 };
const settings = { ...intervals, baseUrl: 'https://a.example', partnerKey: 'k' };
const snapshot = createSnapshotStore(client, keys);
const polling = createPollingStore(client, keys);
const tokens = createTokenStore(client, keys);

/** The accounts as one process sees them. */
const storeOn = (connection: Redis) =>
  createAccountStore({ redis: connection, keys, sealer, defaults: intervals });

const pending: FilingState = {
  status: 'PENDING',
  completedAt: null,
  rejectionReason: null,
  sequence: 1,
  since: 1,
  readFrom: 1,
  readAt: 2,
  removed: false,
};

/** What a poll of this incarnation writes when it finds a filing. */
async function commit(account: string, incarnation: string, id: string): Promise<void> {
  const { generation } = await polling.begin(account, incarnation);
  const event = { ...buildOperationalEvent(account, 'filing.pending', id, 1, {}), filingId: id, state: 'TX' };
  await snapshot.commit(
    account,
    generation,
    [{ id, previous: null, next: pending, details: null, event }],
    1,
  );
}

const stored = storedRecords(client, keys);
const keysOf = (account: string) => stored.of(account).keys();

async function incarnationOf(accounts: AccountStore, account: string): Promise<string> {
  const found = await accounts.get(account);
  if (found === null) throw new Error(`no account ${account}`);
  return found.incarnation;
}

/** A connection that waits before a command until `go` is called. */
function stalling(command: 'get' | 'scan'): {
  readonly connection: Redis;
  readonly stalled: Promise<void>;
  readonly go: () => void;
} {
  const stalled = Promise.withResolvers<void>();
  const going = Promise.withResolvers<void>();
  const connection = new Proxy(redis.connect(), {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const run = value.bind(target) as (...args: unknown[]) => unknown;
      if (name !== command) return run;
      return async (...args: unknown[]) => {
        stalled.resolve();
        await going.promise;
        return run(...args);
      };
    },
  });
  return { connection, stalled: stalled.promise, go: () => going.resolve() };
}

test('the same change of the same filing is another event after the account was removed and created again', async () => {
  await using partner = await startHostilePartner();
  const accounts = storeOn(client);
  async function live(): Promise<SeenEvent[]> {
    expect(await accounts.put('anew', settings, 1)).toEqual({ created: true });
    const watched = await watchAccount(client, redis.prefix, partner, { account: 'anew' });
    partner.rows = [partnerRow('f', 'PENDING')];
    await watched.poll();
    partner.put('f', { status: 'REJECTED', rejectionReason: 'Not signed' });
    return watched.pollFor();
  }
  const before = await live();
  expect(await accounts.remove('anew')).toBe(true);
  const after = await live();
  const brief = ({ type, filingId, sequence }: SeenEvent) => [type, filingId, sequence];
  expect(before.map(brief)).toEqual([['filing.rejected', 'f', 1]]);
  expect(after.map(brief)).toEqual(before.map(brief));
  expect(after[0]?.id).not.toBe(before[0]?.id);
});

test.each(['get', 'scan'] as const)(
  'a removal that lingers before its %s takes nothing of the account created meanwhile',
  async (command) => {
    const account = `lingering-${command}`;
    const accounts = storeOn(client);
    await accounts.put(account, settings, 1);
    await commit(account, await incarnationOf(accounts, account), 'old');
    const { connection, stalled, go } = stalling(command);
    const removed = storeOn(connection).remove(account);
    await stalled;

    expect(await accounts.exists(account)).toBe(false);
    expect(await accounts.put(account, settings, 2)).toEqual({ created: true });
    expect(await accounts.remove(account)).toBe(true);
    expect(await accounts.put(account, settings, 3)).toEqual({ created: true });
    await commit(account, await incarnationOf(accounts, account), 'new');
    const written = await keysOf(account);
    go();
    expect(await removed).toBe(true);
    expect(await keysOf(account)).toEqual(written);
    expect(await stored.of(account).filings()).toEqual(['new']);
  },
);

test('what a crash has left of a removal goes at the next start, and the account is gone at once', async () => {
  const accounts = storeOn(client);
  await accounts.put('crashed', settings, 1);
  await commit('crashed', await incarnationOf(accounts, 'crashed'), 'f');
  const { connection, stalled } = stalling('scan');
  void storeOn(connection).remove('crashed');
  await stalled;

  expect(await accounts.get('crashed')).toBeNull();
  expect((await accounts.page('', 1_000)).records.map(({ account }) => account)).not.toContain('crashed');
  expect(await keysOf('crashed')).toContain('filings');
  await accounts.finishRemovals();
  expect(await keysOf('crashed')).toEqual(['incarnation']);
  expect(await stored.of('crashed').incarnationExpiresInMs()).toBeGreaterThan(0);
  expect(await stored.accountTexts()).not.toHaveProperty('crashed');
});

test('who works for an account that was removed, and created again, writes to neither', async () => {
  await using harness = await createHarness(redis);
  const { account } = harness;
  const accounts = storeOn(client);
  await accounts.put(account, settings, 1);
  const former = await incarnationOf(accounts, account);
  const { generation } = await polling.begin(account, former);
  const commitLate = () =>
    snapshot.commit(
      account,
      generation,
      [{ id: 'f', previous: null, next: pending, details: null, event: null }],
      1,
    );
  await accounts.remove(account);
  await expect(polling.begin(account, former)).rejects.toThrow(SnapshotLostError);
  await expect(commitLate()).rejects.toThrow(SnapshotLostError);
  const token = { name: 'x', right: 'manage', expiresAt: null } as const;
  expect(await tokens.create(account, token, 1)).toEqual({ kind: 'gone' });
  await harness.subscribe('http://127.0.0.1:1/');
  expect(await keysOf(account)).toEqual(['incarnation']);

  await accounts.put(account, settings, 2);
  await expect(polling.begin(account, former)).rejects.toThrow(SnapshotLostError);
  await polling.begin(account, await incarnationOf(accounts, account));
  await expect(commitLate()).rejects.toThrow(SnapshotLostError);
  expect(await keysOf(account)).toEqual(['incarnation', 'polling']);
});

test('however removals, creations and writes meet, nothing of a former account survives and nothing of the new one is lost', async () => {
  await using receiver = await startReceiver(500);
  await using harness = await createHarness(redis);
  const { account } = harness;
  const processes = [1, 2, 3].map(() => storeOn(redis.connect()));
  const accounts = storeOn(client);
  const random = createRandom(20_261_122);
  const later = async (most: number) => {
    for (let turns = random() * most; turns > 0; turns -= 1) await turn();
  };
  let number = 0;

  /** One process's poll, API and drain: what they wrote and were told is written. */
  async function work(): Promise<{ incarnation: string; filing?: string; subscription?: string }> {
    await later(60);
    const incarnation = (await accounts.get(account))?.incarnation;
    if (incarnation === undefined) return { incarnation: '' };
    await later(60);
    const filing = `${incarnation} ${(number += 1)}`;
    const [polled, subscribed] = await Promise.allSettled([
      commit(account, incarnation, filing),
      harness.subscribe(receiver.url, {}, 'earliest'),
      tokens.create(account, { name: incarnation, right: 'manage', expiresAt: null }, 1),
    ]);
    const subscription = subscribed.status === 'fulfilled' ? subscribed.value : undefined;
    if (subscription !== undefined) await harness.drain(subscription);
    if (polled.status === 'fulfilled') return { incarnation, filing, ...(subscription && { subscription }) };
    expect(polled.reason).toBeInstanceOf(SnapshotLostError);
    return { incarnation, ...(subscription && { subscription }) };
  }

  for (let round = 0; round < 150; round += 1) {
    const changes = Array.from({ length: 5 }, async (_, i) => {
      await later(100);
      const accountsOfOne = processes[i % processes.length] ?? accounts;
      await (random() < 0.5 ? accountsOfOne.remove(account) : accountsOfOne.put(account, settings, round));
    });
    const works = Array.from({ length: 5 }, work);
    await Promise.all(changes);
    await accounts.put(account, settings, round);
    const written = [...(await Promise.all(works)), await work()];

    const incarnation = await incarnationOf(accounts, account);
    const filings = await harness.stored.filings();
    expectNone(filings, (id) => !id.startsWith(`${incarnation} `), 'filings');
    const own = written.filter((one) => one.incarnation === incarnation);
    expect(own.length).toBeGreaterThan(0);
    expect(filings).toEqual(expect.arrayContaining(own.flatMap(({ filing = [] }) => filing)));
    const subscriptions = await harness.stored.subscriptions();
    expect(subscriptions).toEqual(
      expect.arrayContaining(own.flatMap(({ subscription = [] }) => subscription)),
    );
    const ofSubscriptions = (await keysOf(account)).filter((key) => key.startsWith('sub:'));
    const orphans = ofSubscriptions.filter((key) => !subscriptions.includes(key.split(':')[1] ?? ''));
    expect(orphans).toEqual([]);
    expect((await harness.log.head(account)).position).toBe(filings.length);
  }
  await accounts.remove(account);
  expect(await keysOf(account)).toEqual(['incarnation']);
}, 60_000);

/** Numbers in [0, 1), the same each time (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
