import { longestBackoffMs } from './backoff.ts';
import type { MarksUpdate, PollingMarks } from '../store/marks.ts';

// Milliseconds by which a mark may be ahead before it is corrected.
const aheadMsMax = 60_000;

// Marks that prove something about the time before them: ahead of the clock they prove nothing.
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
 * Replacements for marks that lie ahead of the clock, which was ahead itself when they were written; pure.
 * Empty when none does. Without them no sweep would be due, and no later mark be written, until the clock
 * gets there.
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
