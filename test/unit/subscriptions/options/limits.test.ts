import { describe, expect, it } from 'vitest';
import { limitErrors, limits } from '../../../../src/subscriptions/options/limits.ts';

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
