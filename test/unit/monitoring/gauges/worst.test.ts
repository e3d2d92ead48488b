import { describe, expect, it, test } from 'vitest';
import { whoIsNamed, worstOf } from '../../../../src/monitoring/gauges/worst.ts';

describe('METRICS_PER_ACCOUNT', () => {
  it.each([
    ['auto', 100, 1_000, 'all', 'all'],
    ['auto', 101, 0, 'worst', 'worst'],
    ['auto', 1, 1_001, 'all', 'worst'],
    ['true', 10_000, 10_000, 'all', 'all'],
    ['false', 1, 1, 'worst', 'worst'],
  ] as const)('%s with %d accounts and %d subscriptions', (setting, count, own, accounts, subscriptions) => {
    expect(whoIsNamed(setting, count, own)).toEqual({ accounts, subscriptions });
  });
});

describe('the worst', () => {
  const same = (value: number) => value;

  it('come first, as many as are wanted', () => {
    const values = Array.from({ length: 1_000 }, (_, i) => (i * 7_919) % 1_009);
    const expected = values.toSorted((a, b) => b - a).slice(0, 100);
    expect(worstOf(values, same, 100)).toEqual(expected);
  });

  it('leave out what is not bad, and what has no number', () => {
    expect(worstOf([0, 3, -1, Number.NaN, 2], same, 10)).toEqual([3, 2]);
  });

  it('are the first ones where many are as bad', () => {
    const many = Array.from({ length: 50 }, (_, i) => ({ i }));
    expect(worstOf(many, () => Number.MAX_VALUE, 3)).toEqual([{ i: 0 }, { i: 1 }, { i: 2 }]);
  });
});

test('none are asked for, none are given', () => {
  expect(worstOf([1, 2], (value) => value, 0)).toEqual([]);
});
