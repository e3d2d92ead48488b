import { describe, expect, it } from 'vitest';
import { PartnerError, type PartnerErrorKind } from '../../../src/partner/partner-error.ts';
import { nextPace, startInMs } from '../../../src/partner/request-budget.ts';
import { isTrouble, retryDelayMs } from '../../../src/partner/retry-policy.ts';

const error = (kind: PartnerErrorKind, retryAfterMs: number | null = null) =>
  new PartnerError(kind, '', { retryAfterMs });

describe('retryDelayMs', () => {
  it.each<[PartnerErrorKind, number | null]>([
    ['unavailable', 300],
    ['timeout', 300],
    ['network', 300],
    ['invalid_response', 300],
    ['auth', null],
    ['rate_limited', null],
    ['unexpected_status', null],
    ['aborted', null],
  ])('after %s is %j', (kind, expected) => {
    expect(retryDelayMs(error(kind), 1, 1, () => 0.5)).toBe(expected);
  });

  it('is 100 to 500 ms, twice at the most', () => {
    expect([0, 0.999].map((random) => retryDelayMs(error('network'), 2, 1, () => random))).toEqual([
      100, 500,
    ]);
    expect(retryDelayMs(error('network'), 3, 1, () => 0)).toBeNull();
  });

  it('does not come when the service has said when to, or is in trouble for a while', () => {
    expect(retryDelayMs(error('unavailable', 0), 1, 1, () => 0)).toBeNull();
    expect(retryDelayMs(error('unavailable'), 1, 0.125, () => 0)).toBeNull();
  });
});

describe('isTrouble', () => {
  it.each<[PartnerErrorKind, boolean]>([
    ['unavailable', true],
    ['timeout', true],
    ['network', true],
    ['rate_limited', true],
    ['invalid_response', false],
    ['auth', false],
    ['unexpected_status', false],
    ['aborted', false],
  ])('%s is %j', (kind, expected) => {
    expect(isTrouble(error(kind))).toBe(expected);
  });
});

describe('nextPace', () => {
  it('halves with trouble down to a sixteenth and comes back step by step', () => {
    expect(nextPace(1, 'trouble')).toBe(0.5);
    expect(nextPace(0.1, 'trouble')).toBe(1 / 16);
    expect(nextPace(0.5, 'fine')).toBe(0.5 + 1 / 32);
    expect(nextPace(1, 'fine')).toBe(1);
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
