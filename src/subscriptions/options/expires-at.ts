import { Type } from 'typebox';
import { instantMs, instantOrNullSchema, mustBeLater } from '../../json/instant.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { timeOrNull } from '../../json/schema-parts.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import { expiredReason, type DeliveryState, type Subscription } from '../subscription.ts';
import type { Option } from './option.ts';

type Expiring = Pick<Subscription, 'expiresAt'>;

interface Patch {
  readonly expiresAt?: string | null;
  readonly enabled?: boolean;
}

// `expiresAt` in requests.
const expiresAtInput = instantOrNullSchema(
  'In the future; null = never. From then on nothing is sent: the subscription is disabled with the reason `expired` and keeps its place in the log. A later time, set by PATCH, enables it again; otherwise it is removed once it has been expired for as long as events are kept (`EVENT_RETENTION_MS`).',
);

// `expiresAt` in responses.
const expiresAtSchema = timeOrNull('Nothing is sent from then on; null = it does not expire.');

/** The errors of a change that enables a subscription which stays expired. */
export function enablingErrors({ enabled }: Patch, changed: Expiring, now: number): FieldError[] {
  if (enabled !== true || !isExpired(changed, now)) return [];
  const message = 'is not possible any more, as it has expired: give a later expiresAt, or null';
  return [{ path: 'enabled', message }];
}

/**
 * Whether a change enables a subscription, or disables it; undefined leaves it as it is. A new expiry enables
 * one that had expired.
 */
export function enabledAfter(delivery: DeliveryState, { enabled, expiresAt }: Patch): boolean | undefined {
  const isRenewed = expiresAt !== undefined && delivery.disabledReason === expiredReason;
  return enabled ?? (isRenewed && !delivery.enabled ? true : undefined);
}

/**
 * Whether the time of a subscription is over: nothing more is sent; `now` is milliseconds on Redis's clock.
 */
export function isExpired({ expiresAt = null }: Expiring, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/**
 * The delivery state to show. From its time on a subscription reads as disabled, even if that has not been
 * stored yet.
 */
export function whileItLasts(delivery: DeliveryState, subscription: Expiring, now: number): DeliveryState {
  if (!delivery.enabled || !isExpired(subscription, now)) return delivery;
  return { ...delivery, enabled: false, disabledReason: expiredReason };
}

/** The option `expiresAt`. */
export const expiresAt = {
  input: { expiresAt: Type.Optional(expiresAtInput) },
  shown: { expiresAt: expiresAtSchema },
  errors({ expiresAt: given }: Patch, { now }): FieldError[] {
    const at = instantMs(given);
    return at === null || at > now ? [] : [{ path: 'expiresAt', message: mustBeLater(now) }];
  },
  stored: ({ expiresAt: given }: Patch) => (given === undefined ? {} : { expiresAt: instantMs(given) }),
  show: ({ expiresAt: at }: Expiring) => ({ expiresAt: isoOrNull(at ?? 0) }),
} satisfies Option;
