import { describe, expect, it } from 'vitest';
import { limitErrors, showLimits } from '../../../../src/api/subscriptions/settings/limits.ts';
import {
  hasLimits,
  limitsOf,
  rateOf,
  withAllowedRate,
} from '../../../../src/subscriptions/settings/limits.ts';
import { throttledUntil } from '../../../../src/subscriptions/settings/throttled.ts';

describe('the limits of a subscription', () => {
  it('have the lower of its own rate and the rate that its endpoint allows a minute', () => {
    expect(rateOf({})).toBeNull();
    expect(rateOf({ rate: 5 })).toBe(5);
    expect(rateOf(withAllowedRate({ rate: 5 }, 120))).toBe(2);
    expect(rateOf(withAllowedRate({ rate: 1 }, 120))).toBe(1);
    expect(rateOf(withAllowedRate({}, 30))).toBe(0.5);
    expect(rateOf(withAllowedRate(withAllowedRate({ rate: 5 }, 120), null))).toBe(5);
    expect(rateOf(withAllowedRate({}, 1e9))).toBe(1_000);
    expect(showLimits(withAllowedRate({ rate: 5 }, 120), false)).toMatchObject({ rate: 2, throttled: false });
  });

  it('are stored only where they are set', () => {
    expect(limitsOf({ timeoutMs: null, rate: 5 })).toEqual({ rate: 5 });
    expect(hasLimits({ timeoutMs: null, retryMs: null })).toBe(false);
    for (const set of [
      { timeoutMs: 100 },
      { retryMs: [10] },
      { maxInFlight: 1 },
      { rate: 1 },
      { allowedRate: 1 },
    ])
      expect(hasLimits(set)).toBe(true);
  });

  it('have no more in flight than the operator permits', () => {
    expect(limitErrors({ maxInFlight: 64 }, 64)).toEqual([]);
    expect(limitErrors({ maxInFlight: null }, 64)).toEqual([]);
    expect(limitErrors({ maxInFlight: 65 }, 64)).toEqual([
      { path: 'maxInFlight', message: expect.stringContaining('at most 64') },
    ]);
  });
});

describe('a subscription with a rate', () => {
  const waiting = { enabled: true, blocked: null, pausedUntil: 0, throttledUntil: 5_000 };

  it('is throttled until the turn of its next event, and while that is taken', () => {
    expect(throttledUntil({ rate: 1 }, waiting, 4_000)).toBe(5_000);
    expect(throttledUntil({ rate: 1 }, waiting, 5_900)).toBe(5_000);
    expect(throttledUntil({ rate: 1 }, waiting, 6_000)).toBeNull();
  });

  it('is not throttled where it waits for something else', () => {
    expect(throttledUntil({}, waiting, 4_000)).toBeNull();
    expect(throttledUntil({ rate: 1 }, { ...waiting, enabled: false }, 4_000)).toBeNull();
    expect(throttledUntil({ rate: 1 }, { ...waiting, pausedUntil: 4_001 }, 4_000)).toBeNull();
    expect(throttledUntil({ rate: 1 }, { ...waiting, blocked: {} }, 4_000)).toBeNull();
  });

  it('is not throttled by a time that only a wrong clock explains', () => {
    expect(throttledUntil({ rate: 1 }, { ...waiting, throttledUntil: 1e12 }, 4_000)).toBeNull();
  });
});
