import { describe, expect, it } from 'vitest';
import { timesAhead } from '../../../../src/polling/schedule/poll-schedule.ts';
import { noMarks, type PollingMarks } from '../../../../src/polling/store/marks.ts';

const now = 1_000_000_000;
const day = 86_400_000;
const marks: PollingMarks = {
  ...noMarks,
  generation: 'g',
  baselined: true,
  dryPolls: 0,
  hidden: 0,
  baselinedAt: now - day,
  lastPollAt: now,
  scheduledPollAt: now,
  lastCompletePollAt: now,
  lastCompleteEndAt: now + 5,
  lastSweepAt: now - 1_000,
  sweepTriedAt: now - 1_000,
  consecutiveFailures: 3,
  backoffUntil: now + 3_600_000,
  lastError: '',
  leftOut: '',
  authFailed: false,
  staleReported: false,
  doubt: '',
  identity: '',
  identityAt: now,
  toldAt: now,
  unsettledSeenAt: now,
  allSeenAt: now,
  bornSeenAt: now,
  countedAt: now + 50_000,
  removals: 0,
  budgetWaitMs: 0,
  requestsTotal: now + day,
  requestsLastPoll: now + day,
};

describe('timesAhead', () => {
  it('leaves marks alone that a clock which is right can have made', () => {
    expect(timesAhead(marks, now, 15_000)).toEqual({});
  });

  it.each<[keyof PollingMarks, number]>([
    ['lastSweepAt', 0],
    ['sweepTriedAt', 0],
    ['unsettledSeenAt', 0],
    ['allSeenAt', 0],
    ['bornSeenAt', 0],
    ['countedAt', 0],
    ['scheduledPollAt', 0],
    ['backoffUntil', 0],
    ['baselinedAt', now],
    ['lastCompletePollAt', now],
    ['lastCompleteEndAt', now],
  ])('replaces %s of a clock that was a day ahead by %d', (name, expected) => {
    expect(timesAhead({ ...marks, [name]: now + day }, now, 15_000)).toEqual({ [name]: expected });
  });

  it('ends the wait after a failure that was decided by a clock that was ahead, however short that was', () => {
    const ahead = { ...marks, lastPollAt: now + 90_000, backoffUntil: now + 105_000 };
    expect(timesAhead(ahead, now, 15_000)).toEqual({ lastPollAt: now, backoffUntil: 0 });
  });

  it('lets an account that is polled every two days back off for as long', () => {
    const backingOff = { ...marks, backoffUntil: now + 2 * day };
    expect(timesAhead(backingOff, now, 2 * day)).toEqual({});
  });
});
