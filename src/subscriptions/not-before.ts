import { Type } from 'typebox';
import { nullable, oneOf, timeOrNull } from '../json/schema-parts.ts';
import { throttledUntil } from './options/limits.ts';
import { expiredReason, type DeliveryState, type Subscription } from './subscription.ts';

const reasons = ['paused', 'rate', 'blocked', 'unverified', 'proxy', 'expired', 'disabled'] as const;

/** Why nothing is sent to a subscription now, and until when. */
export interface NotBefore {
  /** Milliseconds on Redis's clock; null where no time ends it. */
  readonly at: number | null;
  readonly reason: (typeof reasons)[number];
}

/** The answer as the API shows it, with its time in ISO 8601. */
export const notBeforeSchema = nullable(
  Type.Object(
    {
      at: timeOrNull('When it ends by itself; null where something has to change.'),
      reason: oneOf(reasons, {
        description:
          '`paused`: the endpoint is down or asked for a pause. `rate`: the next event waits for its turn. `blocked`: the settings cannot be used, see `lastError`. `unverified`: the endpoint has yet to answer the challenge. `proxy`: the forward proxy is down.',
      }),
    },
    { additionalProperties: false },
  ),
  { description: 'Why nothing is sent now, and until when; null while nothing keeps callbacks back.' },
);

/**
 * Why nothing is sent to a subscription now; null while nothing keeps callbacks back. `lag` is the number
 * of its undelivered events; pure.
 */
export function notBefore(
  subscription: Pick<Subscription, 'rate'>,
  delivery: DeliveryState,
  lag: number,
  now: number,
): NotBefore | null {
  const { enabled, disabledReason, blocked, pausedUntil } = delivery;
  if (!enabled) return { at: null, reason: disabledReason === expiredReason ? 'expired' : 'disabled' };
  if (blocked !== null)
    return { at: blocked.nextAt, reason: blocked.unverified === true ? 'unverified' : 'blocked' };
  if (pausedUntil > now) return { at: pausedUntil, reason: 'paused' };
  const turnAt = lag === 0 ? null : throttledUntil(subscription, delivery, now);
  return turnAt === null ? null : { at: turnAt, reason: 'rate' };
}
