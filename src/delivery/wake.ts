import type { Matchable } from '../subscriptions/matches-event.ts';
import type { MatchingSubscriptions } from '../subscriptions/matching/matching-subscriptions.ts';
import type { SubscriptionStore } from '../subscriptions/store/subscription-store.ts';
import { manyFrom, type DrainQueue } from './drain-queue.ts';
import { gatherWakeUps } from './gather-wake-ups.ts';
import type { Laggards } from './lagging/laggards.ts';

// Milliseconds in which many that were woken together are given time before a look for laggards.
const manyMs = 5_000;

/** Wakes the subscriptions that have events to be delivered. */
export interface SubscriptionWaker {
  /**
   * Wakes the subscriptions that asked for one of these events, right after they were recorded. Subscriptions
   * at rest are left alone: the end of a pause, or enabling one, wakes it. Wake-ups of an account that come
   * during another one are gathered into one after it (`gatherWakeUps`). Rejects when these could not be
   * woken.
   */
  wakeMatching(account: string, events: readonly Matchable[]): Promise<void>;
  /**
   * Wakes the subscriptions that lag behind the log or have an attempt due: a crash may have lost a wake-up.
   * Looks at all of them.
   */
  wakeLagging(account: string): Promise<void>;
  /**
   * The same, at the cost of those that lag or wait while the account has no new events (`Laggards`). False
   * when the settings of some cannot be read.
   */
  keepAwake(account: string): Promise<boolean>;
  /**
   * Wakes the subscriptions that could not be drained, however long they were to rest. A process that starts
   * may have the key or the version that the former process lacked.
   */
  wakeBlocked(account: string): Promise<void>;
}

export interface WakerDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'resting' | 'deliveries'>;
  readonly matching: MatchingSubscriptions;
  readonly laggards: Laggards;
  readonly queue: DrainQueue;
}

/** A waker over the stores and the drain queue. */
export function createSubscriptionWaker({
  subscriptions,
  matching,
  laggards,
  queue,
}: WakerDeps): SubscriptionWaker {
  // Per account, when many were first woken together since the last look for laggards; monotonic.
  const wakingSince = new Map<string, number>();

  async function wakeMatching(account: string, events: readonly Matchable[]): Promise<void> {
    const ids = await matching(account, events);
    if (ids.length < manyFrom) return queue.wake(account, ids);
    if (!wakingSince.has(account)) wakingSince.set(account, performance.now());
    return queue.wakeMany(account, ids);
  }

  return {
    wakeMatching: gatherWakeUps(wakeMatching),
    async wakeLagging(account) {
      const { ids } = await laggards.find(account, true);
      await queue.wake(account, ids);
    },
    keepAwake(account) {
      // Nearly all would be found to lag, and to be under way.
      const since = wakingSince.get(account) ?? -Infinity;
      if (performance.now() - since < manyMs) return Promise.resolve(true);
      wakingSince.delete(account);
      return laggards.find(account, false).then(async ({ ids, areReadable }) => {
        await queue.wake(account, ids);
        return areReadable;
      });
    },
    async wakeBlocked(account) {
      const ids = [...(await subscriptions.resting(account))].flatMap(([id, until]) =>
        until === Infinity ? [] : [id],
      );
      const states = await subscriptions.deliveries(account, ids);
      const blocked = ids.filter((_, i) => (states[i]?.blocked ?? null) !== null);
      await queue.wake(account, blocked);
    },
  };
}
