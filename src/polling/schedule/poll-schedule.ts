import { jitter } from '../../waiting/jitter.ts';
import type { MarksUpdate, PollingMarks } from '../store/marks.ts';

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

// Milliseconds by which a mark may be ahead before it is corrected.
const aheadMsMax = 60_000;

// Marks that prove facts about the time before them. Ahead of the clock they prove nothing.
const voided = [
  'lastSweepAt',
  'sweepTriedAt',
  'unsettledSeenAt',
  'allSeenAt',
  'bornSeenAt',
  'countedAt',
  'scheduledPollAt',
  'identityAt',
] as const satisfies readonly (keyof PollingMarks)[];
// Lower bounds that decide about health and births.
const counted = [
  'baselinedAt',
  'lastPollAt',
  'lastCompletePollAt',
  'lastCompleteEndAt',
] as const satisfies readonly (keyof PollingMarks)[];

/**
 * Replacements for marks that lie ahead of the clock, because the clock itself was ahead when they were
 * written; pure. Empty when there are none. Without replacements no sweep would be due, and no later mark
 * would be written, until the clock reaches them.
 */
export function timesAhead(marks: PollingMarks, now: number, pollIntervalMs: number): MarksUpdate {
  const isAhead = (name: keyof PollingMarks) => Number(marks[name]) > now + aheadMsMax;
  // A wait is written together with the start of the poll that failed.
  const isWaitAhead =
    isAhead('lastPollAt') || marks.backoffUntil > now + longestBackoffMs(pollIntervalMs) + aheadMsMax;
  return {
    ...Object.fromEntries(voided.filter(isAhead).map((name) => [name, 0])),
    ...Object.fromEntries(counted.filter(isAhead).map((name) => [name, now])),
    ...(isWaitAhead && marks.backoffUntil > 0 ? { backoffUntil: 0 } : {}),
  };
}
