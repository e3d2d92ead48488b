import { expect, it } from 'vitest';
import { createPageLimit } from '../../../../src/partner/body/page-limit.ts';

const mebibyte = 1024 * 1024;

it('a limit falls until a page fits, and rises while pages leave room', () => {
  const limit = createPageLimit(100);
  expect(limit.of(100)).toBe(100);
  const tried = [100];
  while (limit.tooLarge(tried.at(-1) ?? 1)) tried.push(limit.of(100));
  expect(tried).toEqual([100, 25, 6, 1]);
  limit.fits(1, 9 * mebibyte);
  expect(limit.of(100)).toBe(1);
  const risen: number[] = [];
  for (let i = 0; i < 8; i += 1) {
    limit.fits(limit.of(100), 1_000);
    risen.push(limit.of(100));
  }
  expect(risen).toEqual([2, 4, 8, 16, 32, 64, 100, 100]);
});

it('a request for less than the limit teaches nothing', () => {
  const limit = createPageLimit(100);
  limit.tooLarge(100);
  expect(limit.of(1)).toBe(1);
  limit.fits(1, 1_000);
  expect(limit.of(100)).toBe(25);
});
