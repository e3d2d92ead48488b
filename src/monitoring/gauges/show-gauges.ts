import { healthState, type HealthState } from '../../polling/health.ts';
import { isThrottledAt } from '../../subscriptions/settings/throttled.ts';
import type { SubscriptionState } from '../../subscriptions/subscription.ts';
import type { Metrics } from '../metrics.ts';
import type { AccountFacts } from './account-facts.ts';
import { boundedCounts } from './bounded-counts.ts';
import { otherSubscriptions } from './subscription-gauges.ts';
import { worstOf, type Named } from './worst.ts';

/** Maximum number of series of each gauge beside those that are named. */
const worstMax = 100;
// Maximum number of the worst for each of the four statuses whose age is shown.
const worstPerStatusMax = 25;
// Maximum number of accounts whose rejected filings are counted beside the totals.
export const rejectedMax = 50;

const healthStates: readonly HealthState[] = [
  'baselining',
  'ok',
  'backing_off',
  'auth_failed',
  'doubtful',
  'stale',
];
/** The states that need a person, the one that waits for nothing else first. */
const badness: Readonly<Partial<Record<HealthState, number>>> = {
  auth_failed: 4,
  doubtful: 3,
  stale: 2,
  backing_off: 1,
};
const subscriptionStates = [
  'active',
  'failing',
  'unverified',
  'disabled',
] as const satisfies readonly SubscriptionState[];

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

/**
 * Sets the gauges of all accounts and subscriptions at once, so that a scrape in between shows the former
 * ones. Series of accounts and subscriptions that are gone are removed. `now` is in milliseconds on Redis's
 * clock; `rejecting` are accounts whose rejected filings are counted in any case.
 */
export function showGauges(
  gauges: AccountGauges,
  all: Iterable<AccountFacts>,
  named: { readonly accounts: Named; readonly subscriptions: Named },
  { now, rejecting }: { readonly now: number; readonly rejecting: ReadonlySet<string> },
): void {
  const accounts = Array.from(all, (facts) => ({
    ...facts,
    // How many filings there are is not known before the first complete poll.
    counts: facts.marks.lastCompletePollAt > 0 ? facts.counts : {},
    health: healthState(facts.marks, facts.pollIntervalMs, facts.createdAt, now),
  }));
  gauges.seriesPerAccount.set(named.accounts === 'all' ? 1 : 0);
  showTotals(gauges, accounts, now);
  for (const gauge of [
    gauges.accountHealth,
    gauges.certificateEnd,
    gauges.filings,
    gauges.lastCompletePoll,
    gauges.oldestFiling,
    gauges.subscriptionFailing,
    gauges.subscriptionLag,
  ])
    gauge.reset();
  if (named.accounts === 'all') for (const account of accounts) showAccount(gauges, account, now);
  else showWorstAccounts(gauges, accounts, now, rejecting);
  if (named.subscriptions === 'all') for (const account of accounts) showSubscriptions(gauges, account);
  else showWorstSubscriptions(gauges, accounts, named.accounts);
  showFailing(gauges, accounts, now);
}

type Shown = AccountFacts & { readonly health: HealthState };

function showTotals(gauges: AccountGauges, accounts: readonly Shown[], now: number): void {
  const byHealth = new Map<HealthState, number>(healthStates.map((state) => [state, 0]));
  const filings = new Map<string, number>();
  const oldest = new Map<string, number>();
  const byState = { active: 0, failing: 0, unverified: 0, disabled: 0 };
  let [lag, throttled] = [0, 0];
  let certificateEnd = Infinity;
  gauges.pollAge.reset();
  gauges.subscriptionLags.reset();
  for (const { health, marks, counts, oldest: own, subscriptions, certificateEnd: end } of accounts) {
    byHealth.set(health, (byHealth.get(health) ?? 0) + 1);
    for (const status in counts) filings.set(status, (filings.get(status) ?? 0) + (counts[status] ?? 0));
    for (const [status, since] of own) oldest.set(status, Math.min(oldest.get(status) ?? since, since));
    if (marks.lastCompletePollAt > 0)
      gauges.pollAge.observe(Math.max(0, now - marks.lastCompletePollAt) / 1000);
    certificateEnd = Math.min(certificateEnd, end ?? Infinity);
    if (subscriptions === null) continue;
    for (const state of subscriptionStates) byState[state] += subscriptions.byState[state];
    throttled += subscriptions.throttledUntil.filter((until) => isThrottledAt(until, now)).length;
    lag += subscriptions.waiting;
    for (const [id, each] of subscriptions.lags)
      if (id !== otherSubscriptions) gauges.subscriptionLags.observe(each);
    for (const each of subscriptions.otherLags) gauges.subscriptionLags.observe(each);
  }
  for (const [state, count] of byHealth) gauges.accounts.set({ state }, count);
  for (const state of subscriptionStates) gauges.subscriptions.set({ state }, byState[state]);
  gauges.allFilings.reset();
  for (const [status, count] of Object.entries(boundedCounts(Object.fromEntries(filings))))
    gauges.allFilings.set({ status }, count);
  gauges.allOldestFiling.reset();
  for (const [status, since] of oldest) gauges.allOldestFiling.set({ status }, age(since, now));
  gauges.allSubscriptionLag.set(lag);
  gauges.allCertificateEnd.set(certificateEnd === Infinity ? NaN : certificateEnd / 1000);
  gauges.throttledSubscriptions.set(throttled);
}

function showAccount(gauges: AccountGauges, shown: Shown, now: number): void {
  const { account, health, marks, counts, oldest, certificateEnd } = shown;
  for (const [status, since] of oldest) gauges.oldestFiling.set({ account, status }, age(since, now));
  for (const state of healthStates) gauges.accountHealth.set({ account, state }, state === health ? 1 : 0);
  for (const [status, count] of Object.entries(counts)) gauges.filings.set({ account, status }, count);
  if (marks.lastCompletePollAt > 0) gauges.lastCompletePoll.set({ account }, marks.lastCompletePollAt / 1000);
  if (certificateEnd !== null) gauges.certificateEnd.set({ account }, certificateEnd / 1000);
}

// Beside the totals: who waits for the operator, who is late, and whose filings wait for their owner.
function showWorstAccounts(
  gauges: AccountGauges,
  accounts: readonly Shown[],
  now: number,
  rejecting: ReadonlySet<string>,
): void {
  for (const { account, health: state } of worstOf(accounts, ({ health }) => badness[health] ?? 0, worstMax))
    gauges.accountHealth.set({ account, state }, 1);
  const polled = ({ marks }: Shown) => marks.lastCompletePollAt;
  const lateness = (each: Shown) =>
    polled(each) > 0 ? Math.max(0, now - polled(each)) / each.pollIntervalMs : 0;
  for (const each of worstOf(accounts, lateness, worstMax))
    gauges.lastCompletePoll.set({ account: each.account }, polled(each) / 1000);
  for (const status of new Set(accounts.flatMap(({ oldest }) => [...oldest.keys()])))
    for (const { account, oldest } of worstOf(
      accounts,
      ({ oldest: own }) => (own.has(status) ? now - (own.get(status) ?? now) : 0),
      worstPerStatusMax,
    ))
      gauges.oldestFiling.set({ account, status }, age(oldest.get(status) ?? now, now));
  // The sooner the end, the higher the score; ends are far below that number.
  const nearness = ({ certificateEnd: end }: Shown) => (end === null ? 0 : Number.MAX_SAFE_INTEGER - end);
  for (const { account, certificateEnd: end } of worstOf(accounts, nearness, worstMax))
    gauges.certificateEnd.set({ account }, (end ?? 0) / 1000);
  const rejected = ({ account, counts }: Shown) =>
    rejecting.has(account) ? Number.MAX_VALUE : (counts.REJECTED ?? 0);
  for (const { account, counts } of worstOf(accounts, rejected, rejectedMax))
    if (counts.REJECTED !== undefined) gauges.filings.set({ account, status: 'REJECTED' }, counts.REJECTED);
}

function showSubscriptions({ subscriptionLag }: AccountGauges, { account, subscriptions }: Shown): void {
  for (const [subscription, lag] of subscriptions?.lags ?? [])
    subscriptionLag.set({ account, subscription }, lag);
}

// The largest lags of all; where the accounts have series, the rest of each account is its `other`.
function showWorstSubscriptions(
  { subscriptionLag }: AccountGauges,
  accounts: readonly Shown[],
  namedAccounts: Named,
): void {
  const shown = new Map<string, number>();
  for (const { account, subscription, lag } of worstOf(eachLag(accounts), (each) => each.lag, worstMax)) {
    subscriptionLag.set({ account, subscription }, lag);
    shown.set(account, (shown.get(account) ?? 0) + lag);
  }
  if (namedAccounts === 'worst') return;
  for (const { account, subscriptions } of accounts) {
    const lag = [...(subscriptions?.lags.values() ?? [])].reduce((sum, each) => sum + each, 0);
    if (subscriptions !== null && subscriptions.lags.size > 0)
      subscriptionLag.set({ account, subscription: otherSubscriptions }, lag - (shown.get(account) ?? 0));
  }
}

function* eachLag(accounts: readonly Shown[]) {
  for (const { account, subscriptions } of accounts)
    for (const [subscription, lag] of subscriptions?.lags ?? [])
      if (lag > 0 && subscription !== otherSubscriptions) yield { account, subscription, lag };
}

function showFailing({ subscriptionFailing }: AccountGauges, accounts: readonly Shown[], now: number): void {
  for (const { account, subscription, since } of worstOf(
    eachFailing(accounts),
    ({ since: at }) => now - at,
    worstMax,
  ))
    subscriptionFailing.set({ account, subscription }, age(since, now));
}

function* eachFailing(accounts: readonly Shown[]) {
  for (const { account, subscriptions } of accounts)
    for (const [subscription, since] of subscriptions?.failing ?? [])
      if (since > 0) yield { account, subscription, since };
}

function age(since: number, now: number): number {
  return Math.max(0, now - since) / 1000;
}
