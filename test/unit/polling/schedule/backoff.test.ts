import { describe, expect, it } from 'vitest';
import { nextPollMs, longestBackoffMs } from '../../../../src/polling/schedule/poll-schedule.ts';

describe('backoffMs', () => {
  it.each([
    [1, 15_000, null, 0.5, 15_000],
    [2, 15_000, null, 0.5, 30_000],
    [4, 15_000, null, 0.5, 120_000],
    [9, 15_000, null, 0.5, 300_000],
    [2_000, 15_000, null, 0.5, 300_000],
    [3, 600_000, null, 0.5, 600_000],
    [1, 15_000, null, 0, 12_000],
    [1, 15_000, null, 1, 18_000],
    [1, 15_000, 60_000, 0.5, 60_000],
    [3, 15_000, 1_000, 0.5, 60_000],
    [1, 15_000, 1e15, 0.5, 3_600_000],
    [1, 15_000, 0, 0.5, 15_000],
  ])(
    'failure %d at %d ms with Retry-After %j and random %d waits %d ms',
    (failures, interval, after, random, expected) => {
      expect(nextPollMs(failures, interval, after, () => random)).toBe(expected);
    },
  );
});

describe('longestBackoffMs', () => {
  it.each([
    [1_000, 3_600_000],
    [15_000, 3_600_000],
    [86_400_000, 1.2 * 86_400_000],
  ])('at %d ms is %d ms', (interval, expected) => {
    expect(longestBackoffMs(interval)).toBe(expected);
    expect(nextPollMs(99, interval, 1e15, () => 1)).toBeLessThanOrEqual(expected);
  });
});
