import type { Static } from 'typebox';
import { undecidedCount } from '../../subscriptions/content-filter/selection.ts';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import { whileItLasts } from '../../subscriptions/options/expires-at.ts';
import { byRequest, firstBlock, subscriptionState } from '../../subscriptions/subscription.ts';
import type { DeliveryState, Subscription } from '../../subscriptions/subscription.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { showOptions } from '../../subscriptions/options/all-options.ts';
import { throttledUntil } from '../../subscriptions/options/limits.ts';
import { currentOf } from '../../subscriptions/signing-secret.ts';
import type { LeftBehind } from './leave-behind.ts';
import type { changedSchema, registeredSchema, subscriptionSchema } from './schema.ts';

/**
 * A subscription as the API shows it: no secret, no header values; pure. `lag` is the number of undelivered
 * events.
 */
export function subscriptionView(
  { subscription, unreadable, ...record }: SubscriptionRecord,
  lag: number,
  now: number,
): Static<typeof subscriptionSchema> {
  const delivery = whileItLasts(record.delivery, subscription, now);
  const { id, account, url, description, format, payload } = subscription;
  const turnAt = lag === 0 ? null : throttledUntil(subscription, delivery, now);
  return {
    id,
    account,
    url,
    eventTypes: [...subscription.eventTypes],
    states: subscription.states === null ? null : [...subscription.states],
    statuses: subscription.statuses == null ? null : [...subscription.statuses],
    description,
    format,
    payload,
    ...showOptions(subscription),
    undecided: undecidedCount(delivery.undecided, subscription.filter),
    throttled: turnAt !== null,
    from: subscription.from ?? 'now',
    enabled: delivery.enabled,
    state: subscriptionState(delivery),
    disabledReason: delivery.enabled ? null : delivery.disabledReason,
    lag,
    consecutiveFailures: delivery.failures,
    nextAttemptAt: turnAt === null ? nextAttempt(delivery) : isoOrNull(turnAt),
    lastSuccessAt: isoOrNull(delivery.lastSuccessAt),
    lastError: delivery.blocked?.reason ?? (delivery.obstacle || null),
    unreadable: unreadable?.message ?? null,
    createdBy: subscription.createdBy ?? null,
    previousSecretExpiresAt: isoOrNull(previousSecretExpiresAt(subscription)),
    createdAt: new Date(subscription.createdAt).toISOString(),
    updatedAt: new Date(subscription.updatedAt).toISOString(),
  };
}

/**
 * A view of a subscription for which callbacks wait, with the reason; pure. `waitsFor` is why callbacks to a
 * URL wait, null where they do not.
 */
export function whileHeld(
  shown: Static<typeof subscriptionSchema>,
  waitsFor: (url: string) => string | null,
): Static<typeof subscriptionSchema> {
  if (!shown.enabled || shown.lag === 0 || shown.lastError !== null) return shown;
  const reason = waitsFor(shown.url);
  return reason === null ? shown : { ...shown, state: 'failing', lastError: reason };
}

/**
 * The response to a registration; pure. It shows the subscription as registered, not as it is now, so a
 * repeated request gets the same response. `waiting` is the number of events that it started with, and
 * `enabled` whether it was.
 */
export function registeredView(
  subscription: Subscription,
  waiting: number,
  enabled: boolean,
): Omit<Static<typeof registeredSchema>, 'warnings'> {
  const state = parseDeliveryState(enabled ? {} : { enabled: '0', disabledReason: byRequest });
  const untouched = { ...state, blocked: firstBlock(subscription) };
  return {
    ...subscriptionView(
      { subscription, delivery: untouched, unreadable: null },
      waiting,
      subscription.createdAt,
    ),
    secret: currentOf(subscription.secrets, 'v1'),
  };
}

/** The response to a change; pure. `newSecret` is the one that it made by itself; null where it made none. */
export function changedView(
  shown: Static<typeof subscriptionSchema>,
  dropped: readonly LeftBehind[],
  newSecret: string | null,
): Omit<Static<typeof changedSchema>, 'warnings'> {
  return {
    ...shown,
    ...(dropped.length === 0 ? {} : { dropped: [...dropped] }),
    ...(newSecret === null ? {} : { secret: newSecret }),
  };
}

function nextAttempt({ enabled, nextAttemptAt, pausedUntil, blocked }: DeliveryState): string | null {
  if (!enabled) return null;
  if (blocked !== null) return isoOrNull(blocked.nextAt);
  if (nextAttemptAt === 0) return null;
  return isoOrNull(Math.max(nextAttemptAt, pausedUntil));
}

/** When the last of the former secrets ends, in milliseconds; 0 if there is none. */
function previousSecretExpiresAt({ secrets }: Subscription): number {
  return Math.max(0, ...secrets.map(({ expiresAt }) => expiresAt ?? 0));
}
