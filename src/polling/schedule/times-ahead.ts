import { longestBackoffMs } from './backoff.ts';
import type { MarksUpdate, PollingMarks } from '../store/marks.ts';

// Milliseconds by which a clock may be set right without a mark being doubted.
const aheadMsMax = 60_000;

// What such a mark vouches for is not known any more.
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
// These are lower bounds that health and births are told by.
const counted = [
  'baselinedAt',
  'lastPollAt',
  'lastCompletePollAt',
  'lastCompleteEndAt',
] as const satisfies readonly (keyof PollingMarks)[];

/**
 * What to write in place of marks that lie ahead of the clock, which was ahead itself when they were made;
 * pure. Empty when none does. Otherwise no sweep would be due, and no later mark be written, until the clock
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
