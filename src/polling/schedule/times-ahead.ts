import { longestBackoffMs } from './backoff.ts';
import type { MarksUpdate, PollingMarks } from '../store/marks.ts';

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
