import { Type } from 'typebox';
import { nullable, oneOf, timeOrNull } from '../json/schema-parts.ts';
import { rateBounds } from './options/limits.ts';
import { expiredReason, type DeliveryState } from './subscription.ts';

/** Each reason for which nothing is sent to a subscription, with its meaning. */
export const waitReasons = {
  paused: 'the endpoint is down or asked for a pause',
  rate: 'the next event waits for its turn',
  blocked: 'the settings cannot be used, see `lastError`',
  unverified: 'the endpoint has yet to answer the challenge',
  proxy: 'the forward proxy is down',
  expired: 'its time is over',
  disabled: 'it was disabled, see `disabledReason`; `at` is when its endpoint is asked again',
} as const;

/** The name of one of them. */
export type WaitReason = keyof typeof waitReasons;

/** Their names. */
export const waitReasonNames = Object.keys(waitReasons) as readonly WaitReason[];

/** Why nothing is sent to a subscription now, and until when. */
export interface NotBefore {
  /** Milliseconds on Redis's clock, or null if it has no set end. */
  readonly at: number | null;
  readonly reason: WaitReason;
}

/** The answer as the API shows it, with its time in ISO 8601. */
export const notBeforeSchema = nullable(
  Type.Object(
    {
      at: timeOrNull('When it ends by itself; null where something has to change.'),
      reason: oneOf(waitReasonNames, {
        description: Object.entries(waitReasons)
          .map(([name, meaning]) => `\`${name}\`: ${meaning}.`)
          .join(' '),
      }),
    },
    { additionalProperties: false },
  ),
  { description: 'Why nothing is sent now, and until when; null while nothing keeps callbacks back.' },
);

/**
 * Why nothing is sent to a subscription now, or null if nothing holds callbacks back. `lag` is the number of
 * its undelivered events, `isHeld` whether the forward proxy that it is called through is down, and `isAsked`
 * whether the endpoint of a disabled one is asked again; pure.
 */
export function notBefore(
  delivery: DeliveryState,
  lag: number,
  isHeld: boolean,
  now: number,
  isAsked = false,
): NotBefore | null {
  const { enabled, disabledReason, blocked, obstacle, pausedUntil, throttledUntil } = delivery;
  if (!enabled && disabledReason === expiredReason) return { at: null, reason: 'expired' };
  if (!enabled) return { at: isAsked ? Math.max(now, pausedUntil) : null, reason: 'disabled' };
  if (blocked !== null)
    return { at: blocked.nextAt, reason: blocked.unverified === true ? 'unverified' : 'blocked' };
  if (isHeld && lag > 0 && obstacle === '') return { at: null, reason: 'proxy' };
  if (pausedUntil > now) return { at: pausedUntil, reason: 'paused' };
  return lag > 0 && isThrottledAt(throttledUntil, now) ? { at: throttledUntil, reason: 'rate' } : null;
}

// Milliseconds by which a deliverer may come later than its turn.
const lateMsMax = 1_000;
// Maximum milliseconds until a turn, with a margin for corrections of the clock meanwhile. A later one was
// decided by a clock that was ahead.
const turnMsMax = 1_000 / rateBounds.min + 60_000;

// Whether a turn at `until` is still to come, or is taken about now.
function isThrottledAt(until: number, now: number): boolean {
  return until + lateMsMax > now && until <= now + turnMsMax;
}
