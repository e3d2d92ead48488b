import { isHeldBack } from './doubt/doubt.ts';
import type { PollingMarks } from './store/polling-store.ts';

/** How polling of an account stands (contract, Account health). */
export type HealthState = 'baselining' | 'ok' | 'backing_off' | 'auth_failed' | 'doubtful' | 'stale';

// So many poll intervals without a complete poll, and at least so long, make an account stale.
const staleIntervals = 5;
const staleMsMin = 2_000;

/**
 * The health of an account; pure. An account that has never been polled completely counts from `createdAt`;
 * its baseline may take as long as it needs while nothing fails.
 */
export function healthState(
  marks: PollingMarks,
  pollIntervalMs: number,
  createdAt: number,
  now: number,
): HealthState {
  if (marks.authFailed) return 'auth_failed';
  // Nothing is told until somebody looks at it, whether polls get through meanwhile or not.
  if (isHeldBack(marks)) return 'doubtful';
  const { lastCompletePollAt, lastCompleteEndAt } = marks;
  const lastComplete = Math.max(lastCompletePollAt, lastCompleteEndAt, createdAt);
  // Where polls take long, the next one may too.
  const tookMs = Math.max(0, lastCompleteEndAt - lastCompletePollAt);
  const isLate = now - lastComplete > staleAfterMs(pollIntervalMs) + tookMs;
  if (isLate && (marks.baselined || marks.consecutiveFailures > 0)) return 'stale';
  if (marks.backoffUntil > 0) return 'backing_off';
  return marks.baselined ? 'ok' : 'baselining';
}

/**
 * After how many milliseconds without a complete poll an account counts as stale, beside the time that a poll
 * takes.
 */
export function staleAfterMs(pollIntervalMs: number): number {
  return Math.max(staleIntervals * pollIntervalMs, staleMsMin);
}
