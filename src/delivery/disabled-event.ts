import { buildOperationalEvent, type NewEvent } from '../events/event.ts';
import type { Subscription } from '../subscriptions/subscription.ts';

/** The event `subscription.disabled`; pure. `occasion` tells one disabling of a subscription from the next. */
export function buildDisabledEvent(
  { account, id, url }: Pick<Subscription, 'account' | 'id' | 'url'>,
  reason: string,
  occasion: number,
  at: number,
): NewEvent {
  const details = { subscription: id, url: new URL(url).origin, reason };
  return buildOperationalEvent(account, 'subscription.disabled', `${id} ${occasion}`, at, details);
}
