import { jitter } from '../../waiting/jitter.ts';

const spread = { less: 0.2, more: 0.2 };

/**
 * Milliseconds to wait after a failed attempt; null when the schedule is exhausted and the callback is given up.
 * `attempt` counts the failures so far, this one included, from 1. `random` gives a number in [0, 1) and spreads
 * each delay evenly over ±20 %.
 */
export function nextAttemptMs(
  scheduleMs: readonly number[],
  attempt: number,
  random: () => number,
): number | null {
  const delayMs = scheduleMs[attempt - 1];
  if (delayMs === undefined) return null;
  return jitter(delayMs, spread, random);
}
