import { rateBounds, type DeliveryLimits } from './limits.ts';

// Milliseconds by which a drain may come later than its turn.
const lateMsMax = 1_000;
// Maximum milliseconds until a turn, with a margin for corrections of the clock meanwhile. A later one was
// decided by a clock that was ahead.
const waitMsMax = 1_000 / rateBounds.min + 60_000;

/** Whether a turn at `until` is still to come, or is taken about now; both in milliseconds. */
export function isThrottledAt(until: number, now: number): boolean {
  return until + lateMsMax > now && until <= now + waitMsMax;
}

/**
 * When the next event that waits only because of the rate has its turn, in milliseconds on Redis's clock;
 * null while none does. A subscription that is disabled, blocked or paused waits for something else.
 */
export function throttledUntil(
  limits: DeliveryLimits,
  { enabled, blocked, pausedUntil, throttledUntil: until }: ThrottleState,
  now: number,
): number | null {
  const waitsForElse = !enabled || blocked !== null || pausedUntil > now;
  return limits.rate == null || waitsForElse || !isThrottledAt(until, now) ? null : until;
}

/** The part of a delivery state on which it depends. */
export interface ThrottleState {
  readonly enabled: boolean;
  readonly blocked: object | null;
  /** Milliseconds on Redis's clock, as is `throttledUntil`. */
  readonly pausedUntil: number;
  readonly throttledUntil: number;
}
