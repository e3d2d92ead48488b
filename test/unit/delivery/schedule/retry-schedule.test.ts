import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfterMaxMs, parseRetryAfter } from '../../../../src/waiting/retry-after.ts';
import { nextAttemptMs } from '../../../../src/delivery/schedule/verdict.ts';

const now = Date.parse('2026-11-21T10:00:00Z');

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['1', 1000],
    [' 120 ', 120_000],
    ['007', 7000],
    ['1.5', 1500],
    ['3600', 3_600_000],
    ['3601', retryAfterMaxMs],
    ['1000000000000', retryAfterMaxMs],
    ['1e12', retryAfterMaxMs],
    ['9'.repeat(400), retryAfterMaxMs],
    ['Sat, 21 Nov 2026 10:00:30 GMT', 30_000],
    ['Saturday, 21-Nov-26 10:00:30 GMT', 30_000],
    ['Sat Nov 21 10:00:30 2026', 30_000],
    ['Sun Nov  1 10:00:30 2026', 0],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sun, 21 Nov 2027 10:00:00 GMT', retryAfterMaxMs],
  ])('reads %j as %d ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });

  it.each([
    null,
    undefined,
    '',
    ' ',
    '-1',
    '+1',
    '1,2',
    '10s',
    'soon',
    'NaN',
    'Infinity',
    '0x10',
    '1e',
    'tomorrow 1',
    'foo 1',
    '2026-11-21T10:00:30Z',
    'Sat, 21 Nov 2026 10:00:30',
    'Sat, 21 Nov 2026 10:00:30 PST',
    'Sat, 99 Nov 2026 10:00:30 GMT',
    'Sat, 21 Foo 2026 10:00:30 GMT',
  ])('takes %j for no delay at all', (value) => {
    expect(parseRetryAfter(value, now)).toBeNull();
  });

  it('is a whole number within the bounds, or null, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.date().map(String)), (value) => {
        const delayMs = parseRetryAfter(value, now) ?? 0;
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(retryAfterMaxMs);
      }),
    );
  });
});

describe('nextAttemptMs', () => {
  const scheduleMs = [5000, 300_000, 1_800_000];

  it('follows the schedule and ends after its last delay', () => {
    const delays = [1, 2, 3, 4, 5].map((attempt) => nextAttemptMs(scheduleMs, attempt, () => 0.5));
    expect(delays).toEqual([5000, 300_000, 1_800_000, null, null]);
  });

  it('gives up at once with an empty schedule', () => {
    expect(nextAttemptMs([], 1, () => 0.5)).toBeNull();
  });

  it('spreads a delay over ±20 %', () => {
    expect(nextAttemptMs(scheduleMs, 1, () => 0)).toBe(4000);
    expect(nextAttemptMs(scheduleMs, 1, () => 0.999_999)).toBe(6000);
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
        const delayMs = nextAttemptMs(scheduleMs, 2, () => random);
        expect(delayMs).toBeGreaterThanOrEqual(240_000);
        expect(delayMs).toBeLessThanOrEqual(360_000);
      }),
    );
  });
});
