import type { Account, AccountStore } from '../accounts/account-store.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StayReads } from '../filings/stay-reads.ts';
import type { SnapshotStore } from '../filings/snapshot-store.ts';
import type { Metrics } from './metrics.ts';
import { isKnownStatus, knownStatuses } from '../partner/filing-statuses.ts';
import { healthState, type HealthState } from '../polling/health.ts';
import type { PollingStore } from '../polling/store/polling-store.ts';
import type { Readiness } from './readiness.ts';
import { checkDurability } from '../redis/durability/check-durability.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { StoreWatch } from '../redis/durability/store-watch.ts';
import { toUnreadable } from '../redis/unreadable-record.ts';
import {
  readSubscriptionGauges,
  type SubscriptionGauges,
  type SubscriptionGaugesDeps,
} from './subscription-gauges.ts';

export interface GaugesDeps extends SubscriptionGaugesDeps {
  readonly redis: RedisClient;
  readonly watch: Pick<StoreWatch, 'problem'>;
  readonly readiness: () => Promise<Readiness>;
  readonly accounts: Pick<AccountStore, 'list'>;
  readonly snapshot: Pick<SnapshotStore, 'counts'>;
  readonly polling: Pick<PollingStore, 'read' | 'oldestPolled'>;
  /** Number of requests of this process that wait for a turn at their host. */
  readonly requestsInTurn: () => number;
  readonly stays: Pick<StayReads, 'oldest'>;
  readonly now: () => number;
}

const healthStates: readonly HealthState[] = [
  'baselining',
  'ok',
  'backing_off',
  'auth_failed',
  'doubtful',
  'stale',
];
const otherStatusesMax = 20;
// Number of accounts that are read at the same time.
const accountsAtOnce = 20;

/**
 * Sets every gauge from the store, whichever processes poll and deliver; called before each scrape. The
 * series of deleted accounts and subscriptions are removed. All of an account are set at once, so a scrape in
 * between shows the former ones. Rejects while Redis does not answer: then `ready` is 0 and the other gauges
 * keep their values.
 */
export async function collectGauges(deps: GaugesDeps, metrics: Metrics): Promise<void> {
  const { ready } = await deps.readiness();
  metrics.ready.set(ready ? 1 : 0);
  metrics.clockDifference.set((deps.now() - Date.now()) / 1000);
  metrics.storeEmptied.set(deps.watch.problem() === null ? 0 : 1);
  const { problems } = await checkDurability(deps.redis);
  metrics.redisSafe.set(problems.length === 0 ? 1 : 0);
  metrics.requestsInTurn.set(deps.requestsInTurn());
  const oldest = await deps.polling.oldestPolled();
  metrics.oldestPoll.set(oldest === null ? 0 : Math.max(0, deps.now() - oldest.at) / 1000);
  const accounts = await deps.accounts.list();
  await collectAccounts(deps, accounts, metrics);
  await collectSubscriptions(deps, accounts, metrics);
}

async function collectAccounts(
  { snapshot, polling, stays, now }: GaugesDeps,
  accounts: readonly Account[],
  metrics: Metrics,
): Promise<void> {
  const found = await someAtOnce(accounts, async (account) => ({
    ...account,
    counts: boundedCounts(await snapshot.counts(account.account)),
    marks: await polling.read(account.account),
    oldest: await stays.oldest(account.account),
  }));
  for (const gauge of [
    metrics.filings,
    metrics.oldestFiling,
    metrics.lastCompletePoll,
    metrics.accountHealth,
  ])
    gauge.reset();
  await keepCounters(metrics, accounts);
  for (const { account, pollIntervalMs, createdAt, counts, marks, oldest } of found) {
    for (const [status, since] of oldest)
      metrics.oldestFiling.set({ account, status }, Math.max(0, now() - since) / 1000);
    const health = healthState(marks, pollIntervalMs, createdAt, now());
    for (const state of healthStates) metrics.accountHealth.set({ account, state }, state === health ? 1 : 0);
    for (const [status, count] of Object.entries(counts)) metrics.filings.set({ account, status }, count);
    if (marks.lastCompletePollAt > 0)
      metrics.lastCompletePoll.set({ account }, marks.lastCompletePollAt / 1000);
  }
}

// From the first scrape of an account, because rate() does not see the first increase of a new counter; and
// not longer than the account.
async function keepCounters({ filingEvents }: Metrics, accounts: readonly Account[]): Promise<void> {
  const names = new Set(accounts.map(({ account }) => account));
  const kept = new Set<string>();
  for (const { labels } of (await filingEvents.get()).values) {
    const account = String(labels.account);
    if (names.has(account)) kept.add(`${account} ${labels.status}`);
    else filingEvents.remove({ ...labels });
  }
  for (const account of names)
    for (const status of knownStatuses)
      if (!kept.has(`${account} ${status}`)) filingEvents.inc({ account, status }, 0);
}

async function collectSubscriptions(
  deps: GaugesDeps,
  accounts: readonly Account[],
  metrics: Metrics,
): Promise<void> {
  const found: (SubscriptionGauges & { readonly account: string })[] = [];
  for (const { account } of accounts) {
    const shown = await unlessUnreadable(() => readSubscriptionGauges(deps, account));
    if (shown !== null) found.push({ account, ...shown });
  }
  const byState = { active: 0, failing: 0, disabled: 0 };
  metrics.subscriptionLag.reset();
  for (const { account, byState: states, lags } of found) {
    for (const state of subscriptionStates) byState[state] += states[state];
    for (const [subscription, lag] of lags) metrics.subscriptionLag.set({ account, subscription }, lag);
  }
  for (const state of subscriptionStates) metrics.subscriptions.set({ state }, byState[state]);
}

const subscriptionStates = ['active', 'failing', 'disabled'] as const;

// Reads these accounts, a few of them at once; other work has its turn in between.
async function someAtOnce<T>(
  accounts: readonly Account[],
  read: (account: Account) => Promise<T>,
): Promise<T[]> {
  const found: T[] = [];
  for (let from = 0; from < accounts.length; from += accountsAtOnce) {
    const some = accounts.slice(from, from + accountsAtOnce);
    for (const each of await Promise.all(some.map((account) => unlessUnreadable(() => read(account)))))
      if (each !== null) found.push(each);
    await nextTurn();
  }
  return found;
}

// An account with an unreadable record has no series from it; the other accounts do.
async function unlessUnreadable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (toUnreadable(error) === null) throw error;
    return null;
  }
}

/**
 * Filings per status, with a bounded number of statuses; pure. The statuses of docs/partner.md#statuses are
 * always there. Of other statuses, the twenty most frequent keep their name and the rest is `other`.
 */
export function boundedCounts(counts: Readonly<Record<string, number>>): Record<string, number> {
  const known = knownStatuses.map((status): [string, number] => [status, counts[status] ?? 0]);
  const others = Object.entries(counts)
    .filter(([status, count]) => count > 0 && !isKnownStatus(status))
    .toSorted(([, a], [, b]) => b - a);
  const rest = others.slice(otherStatusesMax).reduce((sum, [, count]) => sum + count, 0);
  return Object.fromEntries([
    ...known,
    ...others.slice(0, otherStatusesMax),
    ...(rest === 0 ? [] : [['other', rest] as const]),
  ]);
}
