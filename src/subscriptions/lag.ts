import { setImmediate as othersFirst } from 'node:timers/promises';
import type { EventLog } from '../events/event-log.ts';
import type { Selecting } from './content-filter/selection.ts';
import { countedMax, countWanted, type JudgedLog } from './content-filter/wanted-entries.ts';
import { createEventMatcher } from './matches-event.ts';
import { snapshotsLeft, subscriptionLag, type Delivered } from './subscription.ts';
import type { LogOutline, OutlinedEntry } from '../events/event-log.ts';
import { createCursor } from './cursor.ts';

/** The fields of a subscription on which its lag depends. */
export interface Lagging {
  readonly filter: Selecting;
  readonly delivery: Delivered;
}

/**
 * Number of undelivered events of each of an account's subscriptions, in the order given: events waiting for
 * a retry, matching events in the log, and events trimmed from the log before delivery (all of these, because
 * whether they matched is no longer known). For a subscription more than two thousand entries behind, all
 * entries count. A filter judges up to a hundred events, those of one call two thousand together; of more,
 * all that match otherwise count.
 */
export type ReadLags = (account: string, subscriptions: readonly Lagging[]) => Promise<number[]>;

export interface LagsDeps {
  readonly log: Pick<EventLog, 'head'>;
  readonly outline: LogOutline;
  /** Judges events by filters; without it they all pass. */
  readonly judged?: JudgedLog;
}

const entriesLookedAt = 2_000;
// Number of entries matched, over all subscriptions, after which other work of the process has its turn.
const matchedAtOnce = 10_000;
// Maximum number of events that filters judge in one call.
const judgedMax = 2_000;

/** Reads lags. The log is read once for all subscriptions of a call, and not at all when none is behind. */
export function createLagReader({ log, outline, judged }: LagsDeps): ReadLags {
  // Judging takes long: one subscription of an account at a time leaves every other turn to other accounts.
  const judging = new Map<string, Promise<unknown>>();
  async function inTurn<T>(account: string, work: () => Promise<T>): Promise<T> {
    const mine = (judging.get(account) ?? Promise.resolve()).then(work, work);
    judging.set(account, mine);
    try {
      return await mine;
    } finally {
      if (judging.get(account) === mine) judging.delete(account);
    }
  }

  async function countWaiting(
    account: string,
    filter: Selecting,
    delivery: Delivered,
    entries: readonly OutlinedEntry[],
    head: number,
    takes: (events: number) => boolean,
  ): Promise<number> {
    const { expired, waiting: unread } = waitingOf(filter, delivery, entries, head);
    if (judged === undefined || filter.filter == null || !takes(unread.length))
      return expired + unread.length;
    const wanted = await inTurn(account, () => countWanted(judged, account, filter, unread));
    return expired + wanted;
  }

  return async (account, subscriptions) => {
    const { position: head } = await log.head(account);
    const begin = Math.min(...subscriptions.map(({ delivery }) => cursorIfNear(delivery, head)));
    const entries = begin < head ? await outline(account, begin, head - begin) : [];
    const lags: number[] = [];
    let matched = 0;
    let judgedSoFar = 0;
    const takes = (events: number): boolean => {
      if (events > countedMax || judgedSoFar + events > judgedMax) return false;
      judgedSoFar += events;
      return true;
    };
    for (const { filter, delivery } of subscriptions) {
      const isFar = head - delivery.cursor > entriesLookedAt;
      if (!isFar && head > delivery.cursor) matched += entries.length;
      lags.push(
        isFar
          ? subscriptionLag(delivery, head)
          : delivery.parked +
              snapshotsLeft(delivery) +
              (await countWaiting(account, filter, delivery, entries, head, takes)),
      );
      if (matched < matchedAtOnce) continue;
      matched = 0;
      await othersFirst();
    }
    return lags;
  };
}

function cursorIfNear({ cursor }: Delivered, head: number): number {
  return head - cursor > entriesLookedAt ? head : cursor;
}

const noneWaiting = { parked: 0, snapshots: 0 };

// The positions of unread events that match by type, state and status, and the number of those that are gone.
function waitingOf(
  filter: Selecting,
  delivery: Delivered,
  entries: readonly OutlinedEntry[],
  head: number,
): { expired: number; waiting: number[] } {
  // Most subscriptions are not behind, even where one of thousands is.
  if (head <= delivery.cursor) return { expired: 0, waiting: [] };
  const cursor = createCursor(delivery.cursor, delivery.done);
  const unread = entries.filter(({ position }) => position <= head && !cursor.isDone(position));
  const expired = Math.max(0, subscriptionLag({ ...delivery, ...noneWaiting }, head) - unread.length);
  const waiting = unread.filter(createEventMatcher(filter)).map(({ position }) => position);
  return { expired, waiting };
}
