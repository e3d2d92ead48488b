import { jitter } from '../../waiting/jitter.ts';

// Milliseconds.
const backoffMsMax = 5 * 60_000;
const retryAfterMsMax = 3_600_000;
const spread = { less: 0.2, more: 0.2 };

/**
 * Milliseconds to wait after the n-th failed poll in a row (1 and up): the poll interval, doubled each time
 * up to five minutes, ±20 %. `Retry-After` is a minimum, believed up to an hour (RFC 9110 §10.2.3).
 */
export function nextPollMs(
  failures: number,
  pollIntervalMs: number,
  retryAfterMs: number | null,
  random: () => number,
): number {
  const doubled = Math.min(pollIntervalMs * 2 ** Math.min(failures - 1, 30), cap(pollIntervalMs));
  return Math.max(jitter(doubled, spread, random), Math.min(retryAfterMs ?? 0, retryAfterMsMax));
}

/** Maximum milliseconds that `nextPollMs` returns; pure. */
export function longestBackoffMs(pollIntervalMs: number): number {
  return Math.max(cap(pollIntervalMs) * (1 + spread.more), retryAfterMsMax);
}

function cap(pollIntervalMs: number): number {
  return Math.max(backoffMsMax, pollIntervalMs);
}
