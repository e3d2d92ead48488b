import { expect, it } from 'vitest';
import { jitter } from '../../../src/waiting/jitter.ts';

it.each([
  { spread: { less: 0.2, more: 0.2 }, from: 800, to: 1_200 },
  { spread: { less: 0.2 }, from: 800, to: 1_000 },
  { spread: { more: 4 }, from: 1_000, to: 5_000 },
  { spread: {}, from: 1_000, to: 1_000 },
])('a second is spread from $from to $to ms', ({ spread, from, to }) => {
  expect(jitter(1_000, spread, () => 0)).toBe(from);
  expect(jitter(1_000, spread, () => 0.5)).toBe((from + to) / 2);
  expect(jitter(1_000, spread, () => 1 - 1e-9)).toBe(to);
});
