import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Account } from '../../accounts/account.ts';
import type { EventLog } from '../../events/event-log.ts';
import { seenStatus } from '../../filings/detection/triage.ts';
import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import type { FilingListStore } from '../../filings/lists/filing-list-store.ts';
import { isKnownStatus, knownStatuses } from '../../partner/filing-statuses.ts';
import { healthState, type HealthState } from '../../polling/health.ts';
import type { PollingStore } from '../../polling/store/polling-store.ts';
import { unlessUnreadable } from '../../redis/unreadable-record.ts';
import type { CertificateWarnings } from '../../subscriptions/certificate-warnings.ts';
import type { ReadLags } from '../../subscriptions/lag.ts';
import { coversRejections } from '../../subscriptions/matches-event.ts';
import { notBefore, type WaitReason } from '../../subscriptions/not-before.ts';
import type { SubscriptionReads } from '../../subscriptions/store/subscription-reads.ts';
import { subscriptionLag, subscriptionState } from '../../subscriptions/subscription.ts';
import type { DeliveryState, SubscriptionState } from '../../subscriptions/subscription.ts';

/** The facts of one account that the gauges show. Times are milliseconds on Redis's clock. */
export interface AccountFacts {
  readonly account: string;
  readonly pollIntervalMs: number;
  readonly health: HealthState;
  /** When its last complete poll began; 0 before the first. */
  readonly lastCompletePollAt: number;
  /** Filings by status, see `boundedCounts`; empty before the first complete poll, when none is known. */
  readonly counts: Readonly<Record<string, number>>;
  /** Number of open rejections; null before the first complete poll. */
  readonly open: number | null;
  /**
   * When the oldest filing of each status came into it; statuses without filings are missing, and answered
   * rejections do not count.
   */
  readonly oldest: ReadonlyMap<string, number>;
  readonly subscriptions: SubscriptionFacts;
  /** When the first of its subscriptions' certificates expires, or null if there are none. */
  readonly certificateEnd: number | null;
}

/** The facts of an account's subscriptions that the gauges show. */
export interface SubscriptionFacts {
  readonly byState: Readonly<Record<SubscriptionState, number>>;
  readonly lags: ReadonlyMap<string, number>;
  /** The sum of the lags of all that are not disabled: disabled ones wait for nothing but a person. */
  readonly waiting: number;
  /** Since when the failing ones have failed (ms). */
  readonly failing: ReadonlyMap<string, number>;
  /** Number of subscriptions to which nothing is sent now, by the reason; reasons of none are missing. */
  readonly held: Partial<Readonly<Record<WaitReason, number>>>;
  /** Whether one that is enabled covers REJECTED. */
  readonly coversRejections: boolean;
}

export interface SubscriptionFactsDeps {
  /** Report nothing, as each round meets the same records. */
  readonly reads: Pick<SubscriptionReads, 'ids' | 'deliveries' | 'filtersOf'>;
  readonly log: Pick<EventLog, 'head'>;
  readonly lags: ReadLags;
  /** Why callbacks to a URL are waiting for the forward proxy, or null if none are. */
  readonly waitsFor: () => Promise<((url: string) => string | null) | null>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

export interface AccountFactsDeps extends SubscriptionFactsDeps {
  readonly polling: Pick<PollingStore, 'read'>;
  readonly snapshot: Pick<SnapshotStore, 'counts'>;
  readonly filings: Pick<FilingListStore, 'oldest' | 'count'>;
  readonly certificates: Pick<CertificateWarnings, 'firstEnd'>;
}

// Maximum number of an account's subscriptions whose waiting events are looked at one by one.
const countedMax = 500;
// Number of subscriptions between which other work has its turn.
const sliceSize = 100;
// Maximum number of unknown statuses that keep their name.
const otherStatusesMax = 20;

/**
 * Reads the facts of an account, or null if a record of its polling or filings cannot be read. An unreadable
 * record of another kind omits only the series that come from it.
 */
export async function readAccountFacts(
  deps: AccountFactsDeps,
  { account, pollIntervalMs, createdAt }: Account,
): Promise<AccountFacts | null> {
  return unlessUnreadable(async () => {
    const [marks, counts, open, oldest, subscriptions, certificateEnd] = await Promise.all([
      deps.polling.read(account),
      deps.snapshot.counts(account),
      deps.filings.count({ account, status: seenStatus }),
      deps.filings.oldest(account),
      unlessUnreadable(() => readSubscriptionFacts(deps, account)),
      unlessUnreadable(() => deps.certificates.firstEnd(account)),
    ]);
    const { lastCompletePollAt } = marks;
    return {
      account,
      pollIntervalMs,
      health: healthState(marks, pollIntervalMs, createdAt, deps.now()),
      lastCompletePollAt,
      counts: lastCompletePollAt > 0 ? boundedCounts(counts) : {},
      open: lastCompletePollAt > 0 ? open : null,
      oldest,
      subscriptions: subscriptions ?? noSubscriptions(),
      certificateEnd,
    };
  });
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

function noSubscriptions() {
  return {
    byState: { active: 0, failing: 0, unverified: 0, disabled: 0 },
    lags: new Map<string, number>(),
    waiting: 0,
    failing: new Map<string, number>(),
    held: {} as Partial<Record<WaitReason, number>>,
    coversRejections: false,
  };
}

/**
 * Reads the state and the lag of an account's subscriptions, in slices between which other work has its turn;
 * their settings while the forward proxy is down, because some URLs pass by it, and until one covers
 * REJECTED. The lag of the first few hundred that are behind counts only the events that they want, that of
 * the rest all events.
 */
export async function readSubscriptionFacts(
  { reads, log, lags, waitsFor, now }: SubscriptionFactsDeps,
  account: string,
): Promise<SubscriptionFacts> {
  const ids = await reads.ids(account);
  const facts = noSubscriptions();
  if (ids.length === 0) return facts;
  const [{ position: head }, heldBy] = await Promise.all([log.head(account), waitsFor()]);
  const disabled = new Set<string>();
  const behind: { id: string; delivery: DeliveryState }[] = [];
  for (const slice of slices(ids)) {
    const needsSettings = heldBy !== null || !facts.coversRejections;
    const settings = needsSettings ? await reads.filtersOf(account, slice) : null;
    for (const [i, delivery] of (await reads.deliveries(account, slice)).entries()) {
      const { [i]: id = '' } = slice;
      const state = subscriptionState(delivery);
      facts.byState[state] += 1;
      if (state === 'disabled') disabled.add(id);
      const { failures, failingSince, blocked } = delivery;
      const since = failures > 0 ? failingSince : (blocked?.since ?? 0);
      if (state === 'failing' && since > 0) facts.failing.set(id, since);
      const lag = subscriptionLag(delivery, head);
      facts.lags.set(id, lag);
      const wanted = settings?.get(id);
      const isHeld = wanted !== undefined && heldBy?.(wanted.url) != null;
      if (wanted !== undefined && state !== 'disabled') facts.coversRejections ||= coversRejections(wanted);
      const kept = notBefore(delivery, lag, isHeld, now());
      if (kept !== null) facts.held[kept.reason] = (facts.held[kept.reason] ?? 0) + 1;
      if (delivery.cursor < head && behind.length < countedMax) behind.push({ id, delivery });
    }
    await nextTurn();
  }
  for (const slice of slices(behind)) {
    const filters = await reads.filtersOf(
      account,
      slice.map(({ id }) => id),
    );
    const shown = slice.flatMap(({ id, delivery }) => {
      const filter = filters.get(id);
      return filter === undefined ? [] : [{ filter, delivery }];
    });
    const counted = await lags(account, shown);
    for (const [i, { filter }] of shown.entries()) facts.lags.set(filter.id, counted[i] ?? 0);
    await nextTurn();
  }
  for (const [id, lag] of facts.lags) if (!disabled.has(id)) facts.waiting += lag;
  return facts;
}

function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += sliceSize) yield all.slice(from, from + sliceSize);
}
