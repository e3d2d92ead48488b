import { expect, test } from 'vitest';
import { named } from '../../../../src/monitoring/gauges/subscription-gauges.ts';

test('the largest lags keep their names, and the rest is one sum', () => {
  const lags = new Map([
    ['a', 1],
    ['b', 30],
    ['c', 2],
    ['d', 20],
  ]);
  const { lags: shown, otherLags } = named(lags, 2);
  expect([...shown]).toEqual([
    ['b', 30],
    ['d', 20],
    ['other', 3],
  ]);
  expect(otherLags).toEqual([2, 1]);
  expect(named(lags, 4)).toEqual({ lags, otherLags: [] });
});
