import type { DeliveryState, Subscription } from '../subscription.ts';

/** Why a subscription is disabled whose time is over. */
export const expiredReason = 'expired';

type Expiring = Pick<Subscription, 'expiresAt'>;

/**
 * Whether the time of a subscription is over: nothing more is sent; `now` is milliseconds on Redis's clock.
 */
export function isExpired({ expiresAt = null }: Expiring, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/**
 * The delivery state as it is to be shown: from its time on a subscription is disabled, whether or not the
 * daemon has written that already.
 */
export function whileItLasts(delivery: DeliveryState, subscription: Expiring, now: number): DeliveryState {
  if (!delivery.enabled || !isExpired(subscription, now)) return delivery;
  return { ...delivery, enabled: false, disabledReason: expiredReason };
}
