import type { EventLog, LogOutline } from '../events/event-log.ts';
import { takeTurns } from '../json/turns.ts';
import type { Selecting } from './content-filter/selection.ts';
import { wantedAmong, type JudgedLog } from './content-filter/wanted-entries.ts';
import { createCursor } from './cursor.ts';
import { createEventMatcher } from './matches-event.ts';
import { subscriptionLag, type Delivered } from './subscription.ts';

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
// Maximum number of events that a filter judges for one subscription, and for those of one call.
const judgedMax = { each: 100, call: 2_000 };

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

  return async (account, subscriptions) => {
    const { position: head } = await log.head(account);
    const isNear = ({ cursor }: Delivered) => cursor < head && head - cursor <= entriesLookedAt;
    const near = subscriptions.filter(({ delivery }) => isNear(delivery));
    const begin = Math.min(head, ...near.map(({ delivery }) => delivery.cursor));
    const entries = begin < head ? await outline(account, begin, head - begin) : [];
    const turns = takeTurns();
    const lags: number[] = [];
    let judgedSoFar = 0;
    for (const { filter, delivery } of subscriptions) {
      if (turns.isOver()) await turns.next();
      const all = subscriptionLag(delivery, head);
      const { isDone } = createCursor(delivery.cursor, delivery.done);
      const unread = isNear(delivery)
        ? entries.filter(({ position }) => position <= head && !isDone(position))
        : [];
      let wanted = unread.filter(createEventMatcher(filter));
      const isJudged = wanted.length <= Math.min(judgedMax.each, judgedMax.call - judgedSoFar);
      if (judged !== undefined && filter.filter != null && isJudged) {
        judgedSoFar += wanted.length;
        const matching = wanted;
        wanted = await inTurn(account, () => wantedAmong(judged, account, filter, matching));
      }
      lags.push(all - unread.length + wanted.length);
    }
    return lags;
  };
}
