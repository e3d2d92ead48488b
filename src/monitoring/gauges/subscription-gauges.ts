import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventLog } from '../../events/event-log.ts';
import type { ReadLags } from '../../subscriptions/lag.ts';
import type { Progress, ProgressReads } from '../../subscriptions/store/progress-reads.ts';
import { subscriptionLag, type SubscriptionState } from '../../subscriptions/subscription.ts';

export interface SubscriptionGaugesDeps {
  readonly progress: ProgressReads;
  readonly log: Pick<EventLog, 'head'>;
  readonly lags: ReadLags;
}

/** The values of the gauges for one account's subscriptions. */
export interface SubscriptionGauges {
  readonly byState: Readonly<Record<SubscriptionState, number>>;
  /** Lags by subscription, those furthest behind by name and the rest as `other`. */
  readonly lags: ReadonlyMap<string, number>;
  /** The lags of those that have no name among `lags`. */
  readonly otherLags: readonly number[];
  /** The sum of the lags of all that are not disabled: disabled ones wait for nothing but a person. */
  readonly waiting: number;
  /** Since when the failing ones have failed (ms), by subscription; the thousand first of them. */
  readonly failing: ReadonlyMap<string, number>;
  /** Until when subscriptions with pending events wait for their turn (ms); times that have passed, too. */
  readonly throttledUntil: readonly number[];
}

// Maximum number of subscriptions of an account that a gauge names.
const namedMax = 1_000;
/** The label of all others together; no id is such a word. */
export const otherSubscriptions = 'other';
// Maximum number of subscriptions of an account of which the waiting events are looked at one by one.
const countedMax = 500;
// Number of subscriptions between which other work has its turn.
const sliceSize = 100;

/**
 * Reads the state and the lag of an account's subscriptions, in slices between which other work has its turn.
 * The work for one account is bounded: the lag of those that are behind counts only the events that they want
 * for the first few hundred, and all events for the rest.
 */
export async function readSubscriptionGauges(
  { progress, log, lags }: SubscriptionGaugesDeps,
  account: string,
): Promise<SubscriptionGauges> {
  const ids = await progress.ids(account);
  const { position: head } = await log.head(account);
  const byState = { active: 0, failing: 0, unverified: 0, disabled: 0 };
  const lagOf = new Map<string, number>();
  const failing = new Map<string, number>();
  const disabled = new Set<string>();
  const behind: Progress[] = [];
  const throttledUntil: number[] = [];
  for (const slice of slices(ids)) {
    for (const each of await progress.progress(account, slice)) {
      const state = stateOf(each);
      byState[state] += 1;
      if (state === 'disabled') disabled.add(each.id);
      if (state === 'failing' && failing.size < namedMax) failing.set(each.id, each.failingSince);
      const lag = subscriptionLag(each, head);
      lagOf.set(each.id, lag);
      if (each.enabled && lag > 0 && each.throttledUntil > 0) throttledUntil.push(each.throttledUntil);
      if (each.cursor < head && behind.length < countedMax) behind.push(each);
    }
    await nextTurn();
  }
  for (const slice of slices(behind)) {
    const wanted = new Map(
      (
        await progress.wanted(
          account,
          slice.map(({ id }) => id),
        )
      ).map((each) => [each.id, each]),
    );
    const shown = slice.flatMap((delivery) => {
      const filter = wanted.get(delivery.id);
      return filter === undefined ? [] : [{ filter, delivery }];
    });
    const counted = await lags(account, shown);
    for (const [i, { filter }] of shown.entries()) lagOf.set(filter.id, counted[i] ?? 0);
    await nextTurn();
  }
  let waiting = 0;
  for (const [id, lag] of lagOf) if (!disabled.has(id)) waiting += lag;
  return { byState, ...named(lagOf, namedMax), waiting, failing, throttledUntil };
}

/** The largest of these lags by name, with the sum of all others, and the others; pure. */
export function named(
  lags: ReadonlyMap<string, number>,
  max: number,
): Pick<SubscriptionGauges, 'lags' | 'otherLags'> {
  if (lags.size <= max) return { lags: new Map(lags), otherLags: [] };
  const sorted = [...lags].toSorted(([, a], [, b]) => b - a);
  const otherLags = sorted.slice(max).map(([, lag]) => lag);
  const rest = otherLags.reduce((sum, lag) => sum + lag, 0);
  return { lags: new Map([...sorted.slice(0, max), [otherSubscriptions, rest]]), otherLags };
}

function stateOf({ enabled, failures, isBlocked, isUnverified }: Progress): SubscriptionState {
  if (!enabled) return 'disabled';
  if (isUnverified) return 'unverified';
  return failures > 0 || isBlocked ? 'failing' : 'active';
}

function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += sliceSize) yield all.slice(from, from + sliceSize);
}
