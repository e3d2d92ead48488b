import { longestBackoffMs } from './backoff.ts';
import type { PollingMarks } from '../store/marks.ts';

// Milliseconds by which a scheduled poll may be late before another one is scheduled in its place.
const lateMs = 5_000;

/**
 * Whether no scheduled poll has run for longer than the schedule explains; pure. The decision rests on the
 * marks that polls have written on Redis's clock, so the clocks of processes do not matter. A poll under way
 * does not count yet.
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
 * Whether a scheduled poll follows the former one too soon and is left out; pure. The clock of the process
 * that started it has then moved, or differs from the clock of the process that scheduled it. Without this
 * rule all accounts would be polled at once, or again and again.
 */
export function isEarly(
  { scheduledPollAt }: Pick<PollingMarks, 'scheduledPollAt'>,
  pollIntervalMs: number,
  now: number,
): boolean {
  const sinceMs = now - scheduledPollAt;
  return sinceMs >= 0 && sinceMs < pollIntervalMs / 2;
}
