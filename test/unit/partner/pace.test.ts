import { describe, expect, it } from 'vitest';
import { nextPace, rpsOf, untriedPace, type Pace, type Verdict } from '../../../src/partner/pace.ts';

const maxRps = 10;
const untried = untriedPace(maxRps);
const after = (pace: Pace, verdict: Verdict, inLastSecond = 0) =>
  nextPace(pace, verdict, { maxRps, inLastSecond });

describe('a refused pace', () => {
  // believed, accepted in the last second, believed then
  it.each([
    [10, 5, 5],
    [10, 8, 8],
    [10, 2, 5],
    [10, 10, 5],
    [10, 12, 5],
    [5.3, 5, 5],
    [1, 0, 0.5],
    [0.15, 0, 0.1],
  ])('of %d with %d accepted in the last second falls to %d', (acceptedRps, inLastSecond, expected) => {
    expect(after({ ...untried, acceptedRps }, 'refused', inLastSecond)).toEqual({
      acceptedRps: expected,
      share: 1,
      refusedInARow: 1,
    });
  });

  it('falls once for refusals in a row, and again after an accepted request', () => {
    let pace = after(after(after(untried, 'refused', 5), 'refused'), 'refused');
    expect(pace).toMatchObject({ acceptedRps: 5, refusedInARow: 3 });
    pace = after(pace, 'fine');
    expect(pace.refusedInARow).toBe(0);
    expect(after(pace, 'refused', 4)).toMatchObject({ acceptedRps: 4, refusedInARow: 1 });
  });

  it.each([2, 5, 9])('of %d creeps up by the same in any second of steady requests', (acceptedRps) => {
    let pace: Pace = { ...untried, acceptedRps };
    for (let second = 0; second < 12; second += 1)
      for (let i = 0; i < acceptedRps; i += 1) pace = after(pace, 'fine');
    expect(pace.acceptedRps - acceptedRps).toBeCloseTo(0.2, 1);
  });

  it('never rises above the ceiling', () => {
    expect(after(untried, 'fine').acceptedRps).toBe(10);
    expect(after({ ...untried, acceptedRps: 9.999 }, 'fine').acceptedRps).toBe(10);
  });
});

describe('a pace in trouble', () => {
  it('halves down to a sixteenth, comes back within 32 answers, and leaves what is accepted alone', () => {
    let pace = after({ ...untried, acceptedRps: 5 }, 'trouble');
    expect([pace.share, pace.acceptedRps, rpsOf(pace)]).toEqual([0.5, 5, 2.5]);
    for (let i = 0; i < 9; i += 1) pace = after(pace, 'trouble');
    expect(pace.share).toBe(1 / 16);
    for (let i = 0; i < 32; i += 1) pace = after(pace, 'fine');
    expect(pace.share).toBe(1);
  });

  it('stays a pace', () => {
    expect(rpsOf({ acceptedRps: 0.1, share: 1 / 16, refusedInARow: 0 })).toBe(0.1);
  });
});
