import type { Static } from 'typebox';
import { undecidedCount } from '../../subscriptions/content-filter/selection.ts';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import { whileItLasts } from '../../subscriptions/options/expires-at.ts';
import { byRequest, firstBlock, subscriptionState } from '../../subscriptions/subscription.ts';
import type { FastifyRequest } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { seesReceivers } from '../access/auth.ts';
import { hideUrlPath } from '../../subscriptions/options/url.ts';
import { hideTokenPath } from '../../subscriptions/options/auth.ts';
import type { DeliveryState, Subscription } from '../../subscriptions/subscription.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { isAskedAgain } from '../../subscriptions/options/auto-enable.ts';
import { showOptions } from '../../subscriptions/options/all-options.ts';
import { notBefore } from '../../subscriptions/not-before.ts';
import { currentOf } from '../../subscriptions/signing-secret.ts';
import { type registeredSchema, subscriptionSchema } from './schema.ts';
import { show } from '../shared/schema.ts';

type Shown = Static<typeof subscriptionSchema>;

/**
 * A subscription as the API shows it: no secret, no header values; pure. `lag` is the number of undelivered
 * events, `heldBy` why callbacks wait for the forward proxy.
 */
export function subscriptionView(
  { subscription, unreadable, ...record }: SubscriptionRecord,
  lag: number,
  now: number,
  heldBy: string | null = null,
): Shown {
  const delivery = whileItLasts(record.delivery, subscription, now);
  const isAsked = isAskedAgain(delivery, subscription, now);
  const kept = notBefore(delivery, lag, heldBy !== null, now, isAsked);
  const isHeld = kept?.reason === 'proxy';
  const isThrottled = kept?.reason === 'rate';
  const turnAt = isThrottled || isAsked ? (kept?.at ?? null) : null;
  return show(subscriptionSchema, {
    ...subscription,
    statuses: subscription.statuses ?? null,
    ...showOptions(subscription),
    undecided: undecidedCount(delivery.undecided, subscription.filter),
    throttled: isThrottled,
    from: subscription.from ?? 'now',
    enabled: delivery.enabled,
    state: isHeld ? 'failing' : subscriptionState(delivery),
    disabledReason: delivery.enabled ? null : delivery.disabledReason,
    lag,
    notBefore: kept === null ? null : { ...kept, at: isoOrNull(kept.at ?? 0) },
    consecutiveFailures: delivery.failures,
    nextAttemptAt: turnAt === null ? nextAttempt(delivery) : isoOrNull(turnAt),
    lastSuccessAt: delivery.lastSuccessAt,
    lastError: isHeld ? heldBy : (delivery.blocked?.reason ?? (delivery.obstacle || null)),
    unreadable: unreadable?.message ?? null,
    createdBy: subscription.createdBy ?? null,
    // When the last of the former secrets ends.
    previousSecretExpiresAt: Math.max(0, ...subscription.secrets.map(({ expiresAt }) => expiresAt ?? 0)),
  });
}

/**
 * Subscriptions as a caller sees them: those for which callbacks wait with the reason, and for a read-only
 * token without what gives access to the receiver.
 */
export async function showSubscriptions(
  { lags, now, waitsFor }: Pick<ApiDeps, 'lags' | 'now' | 'waitsFor'>,
  request: FastifyRequest,
  records: readonly SubscriptionRecord[],
): Promise<Shown[]> {
  const account = records[0]?.subscription.account ?? '';
  const lagging = records.map(({ subscription, delivery }) => ({ filter: subscription, delivery }));
  const [lagOf, reasonFor] = await Promise.all([lags(account, lagging), waitsFor()]);
  const seesAll = seesReceivers(request);
  return records.map((record, i) => {
    const heldBy = reasonFor?.(record.subscription.url) ?? null;
    const shown = subscriptionView(record, lagOf[i] ?? 0, now(), heldBy);
    return seesAll ? shown : { ...shown, url: hideUrlPath(shown.url), auth: hideTokenPath(shown.auth) };
  });
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
  const record = { subscription, delivery: untouched, unreadable: null };
  const secret = currentOf(subscription.secrets, 'v1');
  return { ...subscriptionView(record, waiting, subscription.createdAt), secret };
}

function nextAttempt({ enabled, nextAttemptAt, pausedUntil, blocked }: DeliveryState): string | null {
  if (!enabled) return null;
  if (blocked !== null) return isoOrNull(blocked.nextAt);
  if (nextAttemptAt === 0) return null;
  return isoOrNull(Math.max(nextAttemptAt, pausedUntil));
}
