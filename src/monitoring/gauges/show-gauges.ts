import type { Gauge } from 'prom-client';
import { isIndexed, knownStatuses } from '../../partner/filing-statuses.ts';
import type { HealthState } from '../../polling/health.ts';
import { waitReasonNames } from '../../subscriptions/not-before.ts';
import type { Metrics } from '../metrics.ts';
import { boundedCounts, type AccountFacts, type SubscriptionFacts } from './account-facts.ts';

/** Which accounts or subscriptions have series of their own: all, or those that need a person most. */
export type Named = 'all' | 'worst';

/** `METRICS_PER_ACCOUNT`. */
export type PerAccount = 'auto' | 'true' | 'false';

// Maximum numbers of accounts, and of subscriptions over all accounts, that all have series under `auto`.
const accountsNamedMax = 100;
const subscriptionsNamedMax = 1_000;
// Maximum number of subscriptions that a gauge names per account if all are named.
const namedOfAccountMax = 1_000;
// Maximum number of series of each gauge beside the totals.
const worstMax = 100;
const worstPerStatusMax = 25;
// Maximum number of accounts whose rejected filings are counted beside the totals.
const rejectedMax = 50;
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

/** A series of an account: its further labels, its value, and how much it needs a person, from 0 on. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number, score: number];

interface PerAccountGauge {
  readonly gauge:
    | 'accountHealth'
    | 'certificateEnd'
    | 'filings'
    | 'lastCompletePoll'
    | 'oldestFiling'
    | 'openRejections'
    | 'rejectionsUncovered'
    | 'subscriptionFailing';
  /** Maximum number of series if only the worst are named. */
  readonly max: number;
  /** Only the worst are named, even if all accounts are. */
  readonly isOfWorst?: true;
  /** `now` is in milliseconds on Redis's clock. */
  samples(facts: AccountFacts, now: number): readonly Sample[];
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
    samples: ({ lastCompletePollAt: at, pollIntervalMs }, now) =>
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
    samples: ({ counts }) =>
      Object.entries(counts).map(([status, count]) => [{ status }, count, status === 'REJECTED' ? count : 0]),
  },
  {
    gauge: 'openRejections',
    max: rejectedMax,
    samples: ({ open }) => (open === null ? [] : [[{}, open, open]]),
  },
  ...knownStatuses.filter(isIndexed).map((status): PerAccountGauge => ({
    gauge: 'oldestFiling',
    max: worstPerStatusMax,
    samples({ oldest }, now) {
      const since = oldest.get(status);
      return since === undefined ? [] : [[{ status }, age(since, now), age(since, now)]];
    },
  })),
  {
    gauge: 'rejectionsUncovered',
    max: worstMax,
    // Those with the most rejections first.
    samples: ({ subscriptions, counts }) =>
      subscriptions.coversRejections ? [[{}, 0, 0]] : [[{}, 1, 1 + (counts['REJECTED'] ?? 0)]],
  },
  {
    gauge: 'subscriptionFailing',
    max: worstMax,
    isOfWorst: true,
    samples: ({ subscriptions }, now) =>
      Array.from(subscriptions.failing, ([subscription, since]) => [
        { subscription },
        age(since, now),
        age(since, now),
      ]),
  },
];

/**
 * Whether all accounts and all subscriptions have series of their own, given their numbers; pure.
 * Subscriptions have them only if accounts do.
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
 * ones. Series of accounts and subscriptions that are gone are removed. `now` is in milliseconds on Redis's
 * clock.
 */
export function showGauges(
  metrics: Metrics,
  accounts: readonly AccountFacts[],
  named: { readonly accounts: Named; readonly subscriptions: Named },
  now: number,
): void {
  metrics.seriesPerAccount.set(named.accounts === 'all' ? 1 : 0);
  showTotals(metrics, accounts, now);
  for (const { gauge } of perAccount) metrics[gauge].reset();
  for (const { gauge, max, isOfWorst = named.accounts === 'worst', samples } of perAccount) {
    const all = accounts.flatMap((facts) =>
      samples(facts, now).map(([labels, value, score]) => ({ account: facts.account, labels, value, score })),
    );
    for (const { account, labels, value } of isOfWorst ? worstOf(all, ({ score }) => score, max) : all)
      (metrics[gauge] as Gauge).set({ account, ...labels }, value);
  }
  showLags(metrics, accounts, named);
}

function showTotals(metrics: Metrics, accounts: readonly AccountFacts[], now: number): void {
  const sum = (a: number, b: number) => a + b;
  const subscriptions = accounts.map((facts) => facts.subscriptions);
  const total = (count: (facts: SubscriptionFacts) => number) => subscriptions.map(count).reduce(sum, 0);
  const counts = merged(
    accounts.map((facts) => Object.entries(facts.counts)),
    sum,
  );
  const ages = accounts.map(({ oldest }) =>
    Array.from(oldest, ([status, since]) => [status, age(since, now)] as const),
  );
  const health = (state: HealthState) => accounts.filter((facts) => facts.health === state).length;
  for (const state of healthStates) metrics.accounts.set({ state }, health(state));
  for (const state of subscriptionStates)
    metrics.subscriptions.set(
      { state },
      total(({ byState }) => byState[state]),
    );
  metrics.allFilings.reset();
  for (const [status, count] of Object.entries(boundedCounts(Object.fromEntries(counts))))
    metrics.allFilings.set({ status }, count);
  metrics.allOpenRejections.set(accounts.reduce((all, { open }) => all + (open ?? 0), 0));
  metrics.allOldestFiling.reset();
  for (const [status, oldest] of merged(ages, Math.max)) metrics.allOldestFiling.set({ status }, oldest);
  metrics.accountsUncovered.set(subscriptions.filter(({ coversRejections }) => !coversRejections).length);
  metrics.allSubscriptionLag.set(total(({ waiting }) => waiting));
  for (const reason of waitReasonNames)
    metrics.waitingSubscriptions.set(
      { reason },
      total(({ held }) => held[reason] ?? 0),
    );
  metrics.throttledSubscriptions.set(total(({ held }) => held.rate ?? 0));
  const ends = accounts.flatMap(({ certificateEnd }) => certificateEnd ?? []);
  metrics.allCertificateEnd.set(ends.length === 0 ? NaN : ends.reduce((a, b) => Math.min(a, b)) / 1000);
  metrics.pollAge.reset();
  for (const { lastCompletePollAt: polledAt } of accounts)
    if (polledAt > 0) metrics.pollAge.observe(age(polledAt, now));
  metrics.subscriptionLags.reset();
  for (const { lags } of subscriptions)
    for (const lag of lags.values()) metrics.subscriptionLags.observe(lag);
}

const subscriptionStates = ['active', 'failing', 'unverified', 'disabled'] as const;

// The values of all under each of their names.
function merged(
  all: readonly (readonly (readonly [name: string, value: number])[])[],
  combine: (a: number, b: number) => number,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const each of all)
    for (const [name, value] of each) found.set(name, combine(found.get(name) ?? 0, value));
  return found;
}

// Shows the largest lags, per account if all are named, else overall. The rest of a named account is `other`.
function showLags(
  { subscriptionLag }: Metrics,
  accounts: readonly AccountFacts[],
  named: { readonly accounts: Named; readonly subscriptions: Named },
): void {
  subscriptionLag.reset();
  const lags = accounts.map(({ account, subscriptions }) =>
    Array.from(subscriptions.lags, ([subscription, value]) => ({ account, subscription, value })),
  );
  const shown =
    named.subscriptions === 'all'
      ? lags.flatMap((own) => own.toSorted((a, b) => b.value - a.value).slice(0, namedOfAccountMax))
      : worstOf(lags.flat(), ({ value }) => value, worstMax);
  for (const { account, subscription, value } of shown) subscriptionLag.set({ account, subscription }, value);
  if (named.accounts === 'worst') return;
  const isShown = new Set(shown);
  const others = lags.flat().filter((lag) => !isShown.has(lag));
  for (const { account, value } of others)
    subscriptionLag.inc({ account, subscription: otherSubscriptions }, value);
}

function age(since: number, now: number): number {
  return Math.max(0, now - since) / 1000;
}
