import { describe, expect, it } from 'vitest';
import { isLarge, planPoll, staggerOf, type PlanInput } from '../../../../src/polling/schedule/plan.ts';

describe('planPoll', () => {
  const day = 86_400_000;
  const input = (more: Partial<PlanInput>): PlanInput => ({
    mode: 'delta',
    marks: { baselined: true, lastSweepAt: day, sweepTriedAt: day },
    counts: { COMPLETED: 1000, PENDING: 3 },
    now: day + 1_000,
    pollIntervalMs: 15_000,
    sweepIntervalMs: 900_000,
    largeFrom: 700,
    stagger: 0,
    ...more,
  });
  const swept = (ago: number, triedAgo = ago) => ({
    marks: { baselined: true, lastSweepAt: day + 1_000 - ago, sweepTriedAt: day + 1_000 - triedAgo },
  });

  it.each<[string, Partial<PlanInput>, string]>([
    ['a large account', {}, 'delta'],
    ['a small one', { counts: { COMPLETED: 699 } }, 'full'],
    ['one without a baseline', { marks: { ...swept(0).marks, baselined: false } }, 'full'],
    ['one asked to be swept', { mode: 'sweep' }, 'full'],
    ['one whose sweep is due', swept(900_000), 'full'],
    ['one whose sweep is not quite due', swept(899_999), 'delta'],
    ['one whose stagger is early', { ...swept(820_000), stagger: 0.95 }, 'full'],
    ['one whose sweep was just tried in vain', swept(900_000, 20_000), 'delta'],
    ['one whose sweep was tried a while ago', swept(900_000, 90_000), 'full'],
    ['one never swept', { marks: { baselined: true, lastSweepAt: 0, sweepTriedAt: 0 } }, 'full'],
  ])('reads of %s', (_title, more, plan) => {
    expect(planPoll(input(more))).toEqual(plan);
  });

  it('knows what is large', () => {
    expect([isLarge({ A: 3, B: 4 }, 7), isLarge({ A: 3, B: 3 }, 7), isLarge({}, 0)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('staggerOf', () => {
  it('is the same for a name and spreads many names evenly', () => {
    expect(staggerOf('acme')).toBe(staggerOf('acme'));
    const tenths = Array<number>(10).fill(0);
    for (let i = 0; i < 10_000; i += 1) {
      const tenth = Math.floor(staggerOf(`account-${i}`) * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});
