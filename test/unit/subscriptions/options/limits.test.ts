import { describe, expect, it } from 'vitest';
import { limitErrors, limits, throttledUntil } from '../../../../src/subscriptions/options/limits.ts';

describe('the limits of a subscription', () => {
  it('are changed only where a body names them', () => {
    expect(limits.stored({ timeoutMs: null, rate: 5 })).toEqual({ timeoutMs: null, rate: 5 });
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
