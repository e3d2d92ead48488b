import { unlessUnreadable } from '../redis/unreadable-record.ts';
import { isExpired } from '../subscriptions/options/expires-at.ts';
import type { SubscriptionStore } from '../subscriptions/store/subscription-store.ts';
import { expiredReason, type Subscription } from '../subscriptions/subscription.ts';
import { buildDisabledEvent } from './operational-events.ts';
import type { DisableSubscription } from './store/disable-subscription.ts';
import type { Waker } from './wake.ts';

/**
 * Looks at a subscription that is read or delivered to after its time: disables it, and removes it once it
 * has been expired for as long as events are kept. Returns whether it is gone. Nothing is done while the
 * clocks contradict each other, and to one that cannot be read. A crash leaves it to the next look.
 */
export type EndExpired = (account: string, id: string) => Promise<boolean>;

export interface EndExpiredDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'get' | 'remove'>;
  readonly disable: DisableSubscription;
  readonly wake: Waker['wake'];
  /** Called after a subscription was disabled. */
  readonly onDisabled: (subscription: Subscription, reason: string) => void;
  readonly onRemoved: (subscription: Subscription) => void;
  /** The time before which events are not kept (ms), null while nothing may be removed. */
  readonly before: () => number | null;
  /** Whether Redis's clock may be believed. */
  readonly isClockRight: () => boolean;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/** Ends subscriptions in the stores. */
export function createEndExpired(deps: EndExpiredDeps): EndExpired {
  const { subscriptions, now } = deps;

  async function end(account: string, id: string): Promise<boolean> {
    const found = await subscriptions.get(account, id);
    if (found === null) return true;
    const { subscription, delivery, text } = found;
    if (!isExpired(subscription, now())) return false;
    if ((subscription.expiresAt ?? 0) <= (deps.before() ?? 0)) {
      // A change since it was read has renewed it, or is found with the next look.
      const isRemoved = await subscriptions.remove(account, id, text);
      if (isRemoved) deps.onRemoved(subscription);
      return isRemoved;
    }
    if (!delivery.enabled) return false;
    const at = now();
    const event = buildDisabledEvent(subscription, expiredReason, delivery.version, at);
    if (await deps.disable(account, id, text, expiredReason, { event, at })) {
      deps.onDisabled(subscription, expiredReason);
      await deps.wake(account);
    }
    return false;
  }

  return async (account, id) => {
    if (!deps.isClockRight()) return false;
    return (await unlessUnreadable(() => end(account, id))) ?? false;
  };
}
