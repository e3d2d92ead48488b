/** @import { Attempt } from './api-types.d.ts' */

/**
 * How deliveries went: how many of how many were acknowledged, those left out that this side cut off, and the
 * median of how long those took in milliseconds, null when there are none; pure.
 * @param {Attempt[]} attempts
 */
export function deliveryStats(attempts) {
  const delivered = attempts.filter(({ outcome }) => outcome === 'delivered');
  const durations = delivered.map(({ durationMs }) => durationMs).toSorted((one, other) => one - other);
  return {
    attempts: attempts.filter(({ outcome }) => outcome !== 'aborted').length,
    delivered: delivered.length,
    medianMs: durations[Math.floor(durations.length / 2)] ?? null,
  };
}
