import { describe, expect, it } from 'vitest';
import { isEarly, isPollMissing } from '../../../../src/polling/schedule/poll-schedule.ts';
import { isSuspect } from '../../../../src/polling/schedule/poll-queue.ts';

const now = 1_000_000_000;
const day = 86_400_000;

describe('isSuspect', () => {
  it.each([
    ['it is due', now, false],
    ['it waits for a place', now - 9_000, false],
    ['it did not come', now - 11_000, true],
    ['it comes in an interval', now + 15_000, false],
    ['the clocks of two processes differ a little', now + 18_000, false],
    ['a clock was set back by 90 seconds', now + 105_000, true],
    ['a clock was set back by a day', now + day, true],
  ])('where %s', (_title, nextAt, expected) => {
    expect(isSuspect(nextAt, 15_000, now)).toBe(expected);
  });
});

describe('isPollMissing', () => {
  it.each([
    ['the last one was just now', now - 1_000, 0, false],
    ['the next one is late', now - 19_000, 0, false],
    ['none has come for longer than the interval', now - 21_000, 0, true],
    ['none has ever come', 0, 0, true],
    ["Redis's clock was ahead at the last one", now + day, 0, true],
    ['polls wait after a failure', now - 600_000, now + 60_000, false],
    ['a wait after a failure has passed', now - 600_000, now - 1_000, false],
    ['none has come since such a wait', now - 600_000, now - 21_000, true],
    ['the wait was decided by a clock that was ahead', now - 600_000, now + day, true],
  ])('where %s', (_title, scheduledPollAt, backoffUntil, expected) => {
    expect(isPollMissing({ scheduledPollAt, backoffUntil }, 15_000, now)).toBe(expected);
  });
});

describe('isEarly', () => {
  it.each([
    ['the former one was just now', now, true],
    ['it was less than half an interval ago', now - 7_000, true],
    ['it came late', now - 8_000, false],
    ["Redis's clock was set back since", now + 1, false],
    ['there was none', 0, false],
  ])('where %s', (_title, scheduledPollAt, expected) => {
    expect(isEarly({ scheduledPollAt }, 15_000, now)).toBe(expected);
  });
});
