import { longestBackoffMs } from './backoff.ts';
import type { PollingMarks } from '../store/marks.ts';

// Milliseconds by which a scheduled poll may be late before another one is scheduled in its place.
const lateMs = 5_000;

/**
 * Whether no scheduled poll has come for longer than the schedule explains; pure. Decided on what polls have
 * written, on Redis's clock, so it holds whatever the clocks of processes show. A poll under way counts as
 * not yet come.
 */
export function isPollMissing(
  { scheduledPollAt, backoffUntil }: Pick<PollingMarks, 'scheduledPollAt' | 'backoffUntil'>,
  pollIntervalMs: number,
  now: number,
): boolean {
  if (scheduledPollAt > now + pollIntervalMs) return true;
  const waitsUntil = backoffUntil > now + longestBackoffMs(pollIntervalMs) ? 0 : backoffUntil;
  return now - Math.max(scheduledPollAt, waitsUntil) > pollIntervalMs + lateMs;
}

/**
 * Whether a scheduled poll comes so soon after the former one that it is left out; pure. Then the clock of
 * the process that started it has moved, or differs from the clock of the process that scheduled it. Without
 * this rule all accounts would be polled at once, or over and over.
 */
export function isEarly(
  { scheduledPollAt }: Pick<PollingMarks, 'scheduledPollAt'>,
  pollIntervalMs: number,
  now: number,
): boolean {
  const sinceMs = now - scheduledPollAt;
  return sinceMs >= 0 && sinceMs < pollIntervalMs / 2;
}
