import type { Logger } from 'pino';
import { buildDisabledEvent } from '../../../delivery/operational-events.ts';
import type { DisableSubscription } from '../../../delivery/store/disable-subscription.ts';
import type { SubscriptionWaker } from '../../../delivery/wake.ts';
import { toUnreadable } from '../../../redis/unreadable-record.ts';
import { expiredReason } from '../../../subscriptions/expiry/expiry.ts';
import type { DueSubscription, ExpiryIndex } from '../../../subscriptions/expiry/expiry-index.ts';
import type { SubscriptionStore } from '../../../subscriptions/store/subscription-store.ts';
import type { Subscription } from '../../../subscriptions/subscription.ts';

export interface DueExpiriesDeps {
  readonly expiries: ExpiryIndex;
  readonly subscriptions: Pick<SubscriptionStore, 'get' | 'remove'>;
  readonly disable: DisableSubscription;
  readonly waker: Pick<SubscriptionWaker, 'wakeMatching'>;
  /** Called after a subscription was disabled. */
  readonly onDisabled: (subscription: Subscription, reason: string) => void;
  readonly logger: Pick<Logger, 'info'>;
  /** Milliseconds for which events are kept, and expired subscriptions too. */
  readonly keptMs: number;
  /** The time before which they have been kept for so long, null while nothing may be removed. */
  readonly before: () => number | null;
  /** Whether Redis's clock may be believed. */
  readonly isClockRight: () => boolean;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

// Maximum number of subscriptions that are looked at at once.
const dueAtOnce = 100;
// Milliseconds until a subscription is looked at again that cannot be read, or not be removed, now.
const lookAgainMs = 60_000;

/**
 * Disables subscriptions whose time is over and removes those that have been expired for as long as events
 * are kept: the next hundred that are due, in the order of their time. To be called every few seconds, by any
 * number of processes; a look is one command while nothing is due. A crash leaves the rest to the next look.
 */
export function createDueExpiries(deps: DueExpiriesDeps): () => Promise<void> {
  const { expiries, subscriptions, now } = deps;

  async function disable(text: string, subscription: Subscription, version: number): Promise<void> {
    const { account, id } = subscription;
    const at = now();
    const event = buildDisabledEvent(subscription, expiredReason, version, at);
    if (!(await deps.disable(account, id, text, expiredReason, { event, at }))) return;
    deps.onDisabled(subscription, expiredReason);
    await deps.waker.wakeMatching(account, [{ type: event.type, state: '', status: '' }]);
  }

  // Returns when it is due again (ms); null where there is nothing to do about it any more.
  async function settle({ account, id }: DueSubscription): Promise<number | null> {
    const found = await subscriptions.get(account, id);
    const expiresAt = found?.subscription.expiresAt ?? null;
    if (found === null || expiresAt === null) return null;
    if (expiresAt > now()) return expiresAt;
    const { subscription, delivery, text } = found;
    const before = deps.before();
    if (before !== null && expiresAt <= before) {
      // A change since it was read has renewed it, or will be found with the next look.
      if (!(await subscriptions.remove(account, id, text))) return now();
      deps.logger.info({ account, subscription: id }, 'subscription.removed_expired');
      return null;
    }
    if (delivery.enabled) await disable(text, subscription, delivery.version);
    return Math.max(expiresAt + deps.keptMs, now() + (before === null ? lookAgainMs : 0));
  }

  async function look(due: DueSubscription): Promise<void> {
    const { account, id } = due;
    const at = await settle(due).catch((error: unknown) => {
      if (toUnreadable(error) === null) throw error;
      return now() + lookAgainMs;
    });
    await (at === null ? expiries.remove(due) : expiries.defer(due, at));
    // A change that came in between may have set an earlier time, which the entry has to have.
    const changed = await subscriptions.get(account, id).catch(() => null);
    const expiresAt = changed?.subscription.expiresAt ?? null;
    if (expiresAt !== null && expiresAt > now()) await expiries.add(due, expiresAt);
  }

  let underWay: Promise<void> | null = null;

  async function lookAtDue(): Promise<void> {
    if (!deps.isClockRight()) return;
    for (const due of await expiries.due(now(), dueAtOnce)) await look(due);
  }

  return () => (underWay ??= lookAtDue().finally(() => (underWay = null)));
}
