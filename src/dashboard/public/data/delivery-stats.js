/** @import { Attempt } from './api-types.d.ts' */

/**
 * Statistics of attempts, aborted ones left out; pure. They are the number of attempts, the number of
 * acknowledged ones, and the median duration of these in milliseconds, null if there are none.
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
