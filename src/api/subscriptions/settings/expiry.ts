import type { SubscriptionRecord } from '../../../subscriptions/store/stored-subscription.ts';
import { expiredReason, isExpired } from '../../../subscriptions/expiry/expiry.ts';
import type { Subscription } from '../../../subscriptions/subscription.ts';
import type { FieldError } from '../../../json/validation-problems.ts';
import { instantMs, instantOrNullSchema, mustBeLater } from '../../shared/instant.ts';
import { invalidRequest } from '../../shared/problem.ts';
import { timeOrNull } from '../../shared/schema.ts';

interface ExpiryInput {
  readonly expiresAt?: string | null;
}

/** The expiry in requests. */
export const expiryInput = instantOrNullSchema(
  'In the future; null = never. From then on nothing is sent: the subscription is disabled with the reason `expired` and keeps its place in the log. A later time, set by PATCH, enables it again; otherwise it is removed once it has been expired for as long as events are kept (`EVENT_RETENTION_MS`).',
);

/** The expiry in responses. */
export const expiryShown = timeOrNull('Nothing is sent from then on; null = it does not expire.');

/** The errors of an expiry that a body sets; `now` is milliseconds on Redis's clock. */
export function expiryErrors({ expiresAt }: ExpiryInput, now: number): FieldError[] {
  const at = instantMs(expiresAt);
  return at === null || at > now ? [] : [{ path: 'expiresAt', message: mustBeLater(now) }];
}

/** The expiry that a checked body sets; nothing where it names none. */
export function expiryOf({ expiresAt }: ExpiryInput): Pick<Subscription, 'expiresAt'> {
  return expiresAt === undefined ? {} : { expiresAt: instantMs(expiresAt) };
}

/**
 * Whether a change enables a subscription, or disables it; undefined leaves it as it is. A new expiry enables
 * one that had expired. Throws the Problem for one that is to be enabled although it stays expired.
 */
export function enabledAfter(
  { delivery }: Pick<SubscriptionRecord, 'delivery'>,
  patch: ExpiryInput & { readonly enabled?: boolean },
  changed: Subscription,
  now: number,
): boolean | undefined {
  if (patch.enabled === true && isExpired(changed, now)) {
    const message = 'is not possible any more, as it has expired: give a later expiresAt, or null';
    throw invalidRequest([{ path: 'enabled', message }]);
  }
  const isRenewed = patch.expiresAt !== undefined && delivery.disabledReason === expiredReason;
  return patch.enabled ?? (isRenewed && !delivery.enabled ? true : undefined);
}
