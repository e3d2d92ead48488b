import type { EventLog } from '../events/event-log.ts';
import { matchesEvent, type Matchable } from '../subscriptions/matches-event.ts';
import { subscriptionLag, type DeliveryState } from '../subscriptions/subscription.ts';
import type { SubscriptionStore } from '../subscriptions/store/subscription-store.ts';
import { isBlocking } from './blocked/block-policy.ts';
import type { DrainQueue } from './drain-queue.ts';
import { gatherWakeUps } from './gather-wake-ups.ts';
import { pauseAt } from './schedule/endpoint-health.ts';
import { aheadMsOf } from './schedule/stepped-clock.ts';

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
   */
  wakeLagging(account: string): Promise<void>;
  /**
   * Wakes the subscriptions that could not be drained, however long they were to rest. A process that starts
   * may have the key or the version that the former process lacked.
   */
  wakeBlocked(account: string): Promise<void>;
}

export interface WakerDeps {
  readonly subscriptions: SubscriptionStore;
  readonly log: EventLog;
  readonly queue: DrainQueue;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/** A waker over the stores and the drain queue. */
export function createSubscriptionWaker({ subscriptions, log, queue, now }: WakerDeps): SubscriptionWaker {
  async function wakeMatching(account: string, events: readonly Matchable[]): Promise<void> {
    const [all, resting] = await Promise.all([
      subscriptions.filters(account),
      subscriptions.resting(account),
    ]);
    const matching = all.filter(
      (subscription) =>
        (resting.get(subscription.id) ?? 0) <= now() &&
        events.some((event) => matchesEvent(subscription, event)),
    );
    await queue.wake(
      account,
      matching.map(({ id }) => id),
    );
  }

  return {
    wakeMatching: gatherWakeUps(wakeMatching),
    async wakeLagging(account) {
      const ids = (await subscriptions.filters(account)).map(({ id }) => id);
      const [head, states] = await Promise.all([log.head(account), subscriptions.deliveries(account, ids)]);
      const waiting = ids.filter((_, i) => {
        const state = states[i];
        // The drain mends a state that cannot be read.
        return state === undefined || needsDrain(state, head.position, now());
      });
      await queue.wake(account, waiting);
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

/** Whether a drain would have anything to do now; pure. */
function needsDrain(state: DeliveryState, head: number, now: number): boolean {
  const pause = pauseAt(state, now);
  if (!state.enabled || isBlocking(state.blocked, now)) return false;
  if (aheadMsOf(state.settledAt, now) > 0) return true;
  if (pause === 'pausing') return false;
  const unread = subscriptionLag({ ...state, parked: 0, snapshots: 0 }, head) > 0;
  const due = state.nextAttemptAt > 0 && state.nextAttemptAt <= now;
  return unread || state.release || due || state.replaying > 0 || pause === 'impossible';
}
