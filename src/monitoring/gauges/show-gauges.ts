import type { Gauge } from 'prom-client';
import { isIndexed, knownStatuses } from '../../partner/filing-statuses.ts';
import type { HealthState } from '../../polling/health.ts';
import type { Metrics } from '../metrics.ts';
import { boundedCounts, type AccountFacts } from './account-facts.ts';

/** Which accounts or subscriptions have series of their own: all, or those that need a person most. */
export type Named = 'all' | 'worst';

/** `METRICS_PER_ACCOUNT`. */
export type PerAccount = 'auto' | 'true' | 'false';

// Maximum numbers of accounts, and of subscriptions over all accounts, that all have series under `auto`.
const accountsNamedMax = 100;
const subscriptionsNamedMax = 1_000;
// Maximum number of subscriptions of an account that a gauge names where all are named.
const namedOfAccountMax = 1_000;
// Maximum number of series of each gauge beside the totals.
const worstMax = 100;
const worstPerStatusMax = 25;
/** Maximum number of accounts whose rejected filings are counted beside the totals. */
export const rejectedMax = 50;
// The label of all subscriptions of an account that have no name; no id is such a word.
const otherSubscriptions = 'other';

/** Each state of health; the higher its number, the more it needs a person. */
const badness: Readonly<Record<HealthState, number>> = {
  baselining: 0,
  ok: 0,
  backing_off: 1,
  auth_failed: 4,
  doubtful: 3,
  stale: 2,
};
const healthStates = Object.keys(badness) as HealthState[];

/** The gauges that come from the facts of accounts. */
export type AccountGauges = Pick<
  Metrics,
  | 'accounts'
  | 'accountHealth'
  | 'allCertificateEnd'
  | 'allFilings'
  | 'allOldestFiling'
  | 'allSubscriptionLag'
  | 'certificateEnd'
  | 'filings'
  | 'lastCompletePoll'
  | 'oldestFiling'
  | 'pollAge'
  | 'seriesPerAccount'
  | 'subscriptionFailing'
  | 'subscriptionLag'
  | 'subscriptionLags'
  | 'subscriptions'
  | 'throttledSubscriptions'
>;

/** A series of an account: its further labels, its value, and how much it needs a person, from 0 on. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number, score: number];

interface PerAccountGauge {
  readonly gauge: 'accountHealth' | 'certificateEnd' | 'filings' | 'lastCompletePoll' | 'oldestFiling';
  /** Maximum number of series where only the worst are named. */
  readonly max: number;
  samples(facts: AccountFacts, at: ShowTime): readonly Sample[];
}

interface ShowTime {
  /** Milliseconds on Redis's clock. */
  readonly now: number;
  /** Accounts whose rejected filings are counted in any case. */
  readonly rejecting: ReadonlySet<string>;
}

/** Each gauge with series of accounts: who waits for the operator, who is late, whose filings wait. */
const perAccount: readonly PerAccountGauge[] = [
  {
    gauge: 'accountHealth',
    max: worstMax,
    samples: ({ health }) =>
      healthStates.map((state) =>
        state === health ? [{ state }, 1, badness[state]] : ([{ state }, 0, 0] as const),
      ),
  },
  {
    gauge: 'lastCompletePoll',
    max: worstMax,
    samples: ({ lastCompletePollAt: at, pollIntervalMs }, { now }) =>
      at === 0 ? [] : [[{}, at / 1000, Math.max(0, now - at) / pollIntervalMs]],
  },
  {
    gauge: 'certificateEnd',
    max: worstMax,
    // The sooner the end, the higher the score; ends are far below that number.
    samples: ({ certificateEnd: end }) =>
      end === null ? [] : [[{}, end / 1000, Number.MAX_SAFE_INTEGER - end]],
  },
  {
    gauge: 'filings',
    max: rejectedMax,
    samples: ({ account, counts }, { rejecting }) =>
      Object.entries(counts).map(([status, count]) => {
        const rejected = rejecting.has(account) ? Number.MAX_VALUE : count;
        return [{ status }, count, status === 'REJECTED' ? rejected : 0];
      }),
  },
  ...knownStatuses.filter(isIndexed).map((status): PerAccountGauge => ({
    gauge: 'oldestFiling',
    max: worstPerStatusMax,
    samples({ oldest }, { now }) {
      const since = oldest.get(status);
      return since === undefined ? [] : [[{ status }, age(since, now), age(since, now)]];
    },
  })),
];

/**
 * Whether all accounts and all subscriptions have series of their own, by their numbers; pure. Subscriptions
 * have them only where accounts have.
 */
export function whoIsNamed(
  setting: PerAccount,
  accounts: number,
  subscriptions: number,
): { readonly accounts: Named; readonly subscriptions: Named } {
  if (setting === 'true') return { accounts: 'all', subscriptions: 'all' };
  if (setting === 'false' || accounts > accountsNamedMax)
    return { accounts: 'worst', subscriptions: 'worst' };
  return { accounts: 'all', subscriptions: subscriptions > subscriptionsNamedMax ? 'worst' : 'all' };
}

/**
 * Up to `max` of these, those with the highest score first; pure. Those with the same score are taken in
 * their order, and those whose score is not above 0 are left out.
 */
export function worstOf<T>(all: readonly T[], score: (each: T) => number, max: number): T[] {
  return all
    .filter((each) => score(each) > 0)
    .toSorted((a, b) => score(b) - score(a))
    .slice(0, max);
}

/**
 * Sets the gauges of all accounts and subscriptions at once, so that a scrape in between shows the former
 * ones. Series of accounts and subscriptions that are gone are removed.
 */
export function showGauges(
  gauges: AccountGauges,
  accounts: readonly AccountFacts[],
  named: { readonly accounts: Named; readonly subscriptions: Named },
  at: ShowTime,
): void {
  gauges.seriesPerAccount.set(named.accounts === 'all' ? 1 : 0);
  showTotals(gauges, accounts, at.now);
  for (const { gauge } of perAccount) gauges[gauge].reset();
  for (const { gauge, max, samples } of perAccount) {
    const all = accounts.flatMap((facts) =>
      samples(facts, at).map(([labels, value, score]) => ({ account: facts.account, labels, value, score })),
    );
    for (const { account, labels, value } of named.accounts === 'all'
      ? all
      : worstOf(all, ({ score }) => score, max))
      (gauges[gauge] as Gauge).set({ account, ...labels }, value);
  }
  showLags(gauges, accounts, named);
  gauges.subscriptionFailing.reset();
  const failing = eachOf(accounts, ({ failing: since }) => since);
  for (const { account, subscription, value } of worstOf(failing, (each) => at.now - each.value, worstMax))
    gauges.subscriptionFailing.set({ account, subscription }, age(value, at.now));
}

function showTotals(gauges: AccountGauges, accounts: readonly AccountFacts[], now: number): void {
  const byHealth = new Map(healthStates.map((state) => [state, 0]));
  const filings: Record<string, number> = {};
  const oldest = new Map<string, number>();
  const byState = { active: 0, failing: 0, unverified: 0, disabled: 0 };
  let [waiting, throttled, certificateEnd] = [0, 0, Infinity];
  gauges.pollAge.reset();
  gauges.subscriptionLags.reset();
  for (const { health, lastCompletePollAt, counts, subscriptions, ...facts } of accounts) {
    byHealth.set(health, (byHealth.get(health) ?? 0) + 1);
    for (const [status, count] of Object.entries(counts)) filings[status] = (filings[status] ?? 0) + count;
    for (const [status, since] of facts.oldest)
      oldest.set(status, Math.min(oldest.get(status) ?? since, since));
    if (lastCompletePollAt > 0) gauges.pollAge.observe(age(lastCompletePollAt, now));
    certificateEnd = Math.min(certificateEnd, facts.certificateEnd ?? Infinity);
    for (const state of subscriptionStates) byState[state] += subscriptions.byState[state];
    throttled += subscriptions.throttled;
    waiting += subscriptions.waiting;
    for (const lag of subscriptions.lags.values()) gauges.subscriptionLags.observe(lag);
  }
  for (const [state, count] of byHealth) gauges.accounts.set({ state }, count);
  for (const state of subscriptionStates) gauges.subscriptions.set({ state }, byState[state]);
  gauges.allFilings.reset();
  for (const [status, count] of Object.entries(boundedCounts(filings)))
    gauges.allFilings.set({ status }, count);
  gauges.allOldestFiling.reset();
  for (const [status, since] of oldest) gauges.allOldestFiling.set({ status }, age(since, now));
  gauges.allSubscriptionLag.set(waiting);
  gauges.allCertificateEnd.set(certificateEnd === Infinity ? NaN : certificateEnd / 1000);
  gauges.throttledSubscriptions.set(throttled);
}

const subscriptionStates = ['active', 'failing', 'unverified', 'disabled'] as const;

// The largest lags: of each account where all are named, else of all. The rest of a named account is `other`.
function showLags(
  { subscriptionLag }: AccountGauges,
  accounts: readonly AccountFacts[],
  named: { readonly accounts: Named; readonly subscriptions: Named },
): void {
  subscriptionLag.reset();
  const ofAll = eachOf(accounts, ({ lags }) => lags);
  const shown =
    named.subscriptions === 'all'
      ? accounts.flatMap((facts) =>
          eachOf([facts], ({ lags }) => lags)
            .toSorted((a, b) => b.value - a.value)
            .slice(0, namedOfAccountMax),
        )
      : worstOf(ofAll, ({ value }) => value, worstMax);
  for (const { account, subscription, value } of shown) subscriptionLag.set({ account, subscription }, value);
  if (named.accounts === 'worst') return;
  const isShown = new Set(shown.map(({ account, subscription }) => `${account} ${subscription}`));
  const others = new Map<string, number>();
  for (const { account, subscription, value } of ofAll)
    if (!isShown.has(`${account} ${subscription}`)) others.set(account, (others.get(account) ?? 0) + value);
  for (const [account, lag] of others)
    subscriptionLag.set({ account, subscription: otherSubscriptions }, lag);
}

function eachOf(
  accounts: readonly AccountFacts[],
  valuesOf: (facts: AccountFacts['subscriptions']) => ReadonlyMap<string, number>,
) {
  return accounts.flatMap(({ account, subscriptions }) =>
    Array.from(valuesOf(subscriptions), ([subscription, value]) => ({ account, subscription, value })),
  );
}

function age(since: number, now: number): number {
  return Math.max(0, now - since) / 1000;
}
