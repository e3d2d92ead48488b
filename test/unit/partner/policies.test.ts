import { describe, expect, it } from 'vitest';
import { PartnerError, type PartnerErrorKind } from '../../../src/partner/partner-error.ts';
import { startInMs } from '../../../src/partner/request-budget.ts';
import { repeatDelayMs } from '../../../src/partner/partner-client.ts';
import { refusalWaitMs } from '../../../src/partner/patient-client.ts';

const error = (kind: PartnerErrorKind, retryAfterMs: number | null = null) =>
  new PartnerError(kind, '', { retryAfterMs });

describe('repeatDelayMs', () => {
  it('is 100 to 500 ms, twice at the most', () => {
    expect([0, 0.999].map((random) => repeatDelayMs(error('network'), 2, 1, () => random))).toEqual([
      100, 500,
    ]);
    expect(repeatDelayMs(error('network'), 3, 1, () => 0)).toBeNull();
  });

  it('does not come when the service has said when to, or is in trouble for a while', () => {
    expect(repeatDelayMs(error('unavailable', 0), 1, 1, () => 0)).toBeNull();
    expect(repeatDelayMs(error('unavailable'), 1, 0.125, () => 0)).toBeNull();
  });
});

describe('refusalWaitMs', () => {
  const refused = (retryAfterMs: number | null, refusedInARow = 1, waitedMs = 0, readingMs = 0, random = 0) =>
    refusalWaitMs(error('rate_limited', retryAfterMs), { refusedInARow, waitedMs, readingMs }, () => random);

  it('is a second, doubled with each refusal in a row, six times', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((inARow) => refused(null, inARow))).toEqual([
      1_000,
      2_000,
      4_000,
      8_000,
      16_000,
      32_000,
      null,
    ]);
  });

  it.each([
    [0, 1, 1_000],
    [5_000, 1, 5_000],
    [5_000, 4, 8_000],
    [60_000, 1, 60_000],
    [60_001, 1, null],
    [0, 7, null],
  ])('after Retry-After %d ms and %d refusals in a row is %j', (retryAfterMs, inARow, expected) => {
    expect(refused(retryAfterMs, inARow)).toBe(expected);
  });

  it('is up to a tenth longer, never shorter', () => {
    expect(refused(10_000, 1, 0, 0, 0.999_999)).toBe(11_000);
  });

  // waited, read, expected
  it.each([
    [290_000, 0, 10_000],
    [290_001, 0, null],
    [290_001, 299_999, null],
    [290_001, 300_001, 10_000],
    [3_000_000, 3_010_000, 10_000],
    [3_000_001, 3_010_000, null],
  ])('adds up to five minutes, or to the time of reading: %d ms of %d', (waitedMs, readingMs, expected) => {
    expect(refused(10_000, 1, waitedMs, readingMs)).toBe(expected);
  });
});

describe('startInMs', () => {
  // former starts, requests per second, wait at 1000
  it.each([
    [[], 10, 0],
    [[995, 996], 3, 0],
    [[995, 996, 997], 3, 1015],
    [[0, 900, 997], 3, 20],
    [[-500, 900, 997], 3, -480],
    [[900, 950, 997], 1.9, 1017],
    [[900], 0.5, 1940],
  ])('after %j at %d a second is %d ms', (starts, rps, expected) => {
    expect(startInMs(starts, rps, 1000)).toBeCloseTo(expected);
  });
});
