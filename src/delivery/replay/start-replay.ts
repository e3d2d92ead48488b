import { logBeginning } from '../../events/timeline.ts';
import { createCursor } from '../../subscriptions/cursor.ts';
import type { SubscriptionStore } from '../../subscriptions/store/subscription-store.ts';
import {
  newReplayId,
  newSnapshot,
  progressOf,
  ReplayRefusedError,
  type ReplayProgress,
  type ReplayRequest,
} from './replay.ts';
import type { ReplayStore } from './replay-store.ts';
import { selectEvents, type IsSeen, type SelectionDeps } from './select-events.ts';

/** Delivers events again. */
export type Replayer = ReturnType<typeof createReplayer>;

/** A request for a replay of a subscription. */
type Asked = [account: string, subscription: string, request: ReplayRequest, isSeen?: IsSeen];

export interface ReplayerDeps extends SelectionDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'get'>;
  readonly replays: ReplayStore;
  /** Number of filings of an account. */
  readonly known: (account: string) => Promise<number>;
  readonly wake: (account: string) => Promise<void>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/** A replayer over the stores and the drain queue. */
export function createReplayer(deps: ReplayerDeps) {
  const { subscriptions, log, replays, wake, now } = deps;

  async function choose(...[account, id, request, isSeen]: Asked) {
    const record = await subscriptions.get(account, id);
    if (record === null) throw new ReplayRefusedError('no_subscription');
    const { subscription, delivery } = record;
    const { cursor, timeline, done } = delivery;
    const upTo = await log.commonWith(account, { position: cursor, timeline });
    const settled = createCursor(upTo.position, upTo.position === cursor ? done : '');
    return { ...(await selectEvents(deps, subscription, settled, request, isSeen)), upTo };
  }

  /**
   * Begins to deliver the selected events again, with the same webhook-ids and bodies, whenever there is
   * nothing else to send. Only events that the subscription asks for match, and only once they are done; the
   * others are still on their way to it. An event that the request names is unknown if `isSeen` is false for
   * its type. A repeated request returns the running replay. Throws ReplayRefusedError. A crash leaves the
   * replay either added or not begun at all.
   */
  async function start(...asked: Asked): Promise<{ id: string; matched: number }> {
    const [account, id, request] = asked;
    const { upTo, ...selection } = await choose(...asked);
    const replay = { id: newReplayId(), request, createdAt: now(), ...selection };
    const added = await replays.add(account, id, replay, upTo);
    // Redis was set back meanwhile.
    if (added === null) return start(...asked);
    await wake(account);
    const former = added === replay.id ? null : await replays.load(account, id, added);
    return { id: added, matched: (former?.replay ?? replay).matched };
  }

  return {
    start,
    /** Number of events that `start` would deliver again. Starts nothing. Throws ReplayRefusedError. */
    count: async (...asked: Asked) => (await choose(...asked)).matched,
    /**
     * Begins to send the filings as they are, or one of them whatever the subscription asks for: adds a
     * snapshot behind the replays of the subscription; an unfinished one of the same goes on instead. Returns
     * its id. Throws ReplayRefusedError and AccountQuotaError. A crash leaves it either added or not begun at
     * all.
     */
    async snapshot(account: string, id: string, filingId?: string): Promise<string> {
      const snapshot = newSnapshot(await deps.known(account), now(), filingId);
      const added = await replays.add(account, id, snapshot, logBeginning);
      // A snapshot is of no log: the one that Redis was set back to is as good as any.
      if (added === null) throw new ReplayRefusedError('no_subscription');
      await wake(account);
      return added;
    },
    /** Null when there is no such replay, or no longer. */
    async progress(account: string, subscription: string, id: string): Promise<ReplayProgress | null> {
      const record = await replays.load(account, subscription, id);
      return record === null ? null : progressOf(record);
    },
    /** The replays that are kept of a subscription, the latest first. */
    list: async (account: string, subscription: string) =>
      (await replays.list(account, subscription)).map(progressOf),
    /**
     * Ends a replay: callbacks in flight may still arrive, and nothing is sent for it after that. Atomic.
     * False when there is no such replay. One that has ended already stays as it is.
     */
    async cancel(account: string, subscription: string, id: string): Promise<boolean> {
      const result = await replays.cancel(account, subscription, id);
      // A drain takes note of it, and of when the subscription is next due without this replay.
      if (result === 'cancelled') await wake(account);
      return result !== 'unknown';
    },
  };
}
