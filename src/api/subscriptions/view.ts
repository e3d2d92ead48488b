import type { Static } from 'typebox';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import { byRequest, subscriptionState } from '../../subscriptions/subscription.ts';
import type { DeliveryState, Subscription } from '../../subscriptions/subscription.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { maskedHeader } from './setting-problems.ts';
import type { LeftBehind } from './leave-behind.ts';
import type { changedSchema, registeredSchema, subscriptionSchema } from './schema.ts';

/**
 * A subscription as the API shows it: no secret, no header values; pure. `lag` is the number of undelivered
 * events.
 */
export function subscriptionView(
  { subscription, delivery, unreadable }: SubscriptionRecord,
  lag: number,
): Static<typeof subscriptionSchema> {
  const { id, account, url, description, format, payload } = subscription;
  return {
    id,
    account,
    url,
    eventTypes: [...subscription.eventTypes],
    states: subscription.states === null ? null : [...subscription.states],
    statuses: subscription.statuses == null ? null : [...subscription.statuses],
    description,
    headers: Object.fromEntries(Object.keys(subscription.headers).map((name) => [name, maskedHeader])),
    format,
    payload,
    from: subscription.from ?? 'now',
    enabled: delivery.enabled,
    state: subscriptionState(delivery),
    disabledReason: delivery.enabled ? null : delivery.disabledReason,
    lag,
    consecutiveFailures: delivery.failures,
    nextAttemptAt: nextAttempt(delivery),
    lastSuccessAt: isoOrNull(delivery.lastSuccessAt),
    lastError: delivery.blocked?.reason ?? null,
    unreadable: unreadable?.message ?? null,
    previousSecretExpiresAt: isoOrNull(previousSecretExpiresAt(subscription)),
    createdAt: new Date(subscription.createdAt).toISOString(),
    updatedAt: new Date(subscription.updatedAt).toISOString(),
  };
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
  const untouched = parseDeliveryState(enabled ? {} : { enabled: '0', disabledReason: byRequest });
  return {
    ...subscriptionView({ subscription, delivery: untouched, unreadable: null }, waiting),
    secret: subscription.secrets[0]?.text ?? '',
  };
}

/** The response to a change; pure. `newSecret` is the one that replaces a dropped secret. */
export function changedView(
  shown: Static<typeof subscriptionSchema>,
  dropped: readonly LeftBehind[],
  newSecret: string | null,
): Omit<Static<typeof changedSchema>, 'warnings'> {
  if (dropped.length === 0) return shown;
  const isNew = dropped.includes('secret') && newSecret !== null;
  return { ...shown, dropped: [...dropped], ...(isNew ? { secret: newSecret } : {}) };
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
