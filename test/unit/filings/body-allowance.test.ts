import { expect, test } from 'vitest';
import { createBodyAllowance } from '../../../src/filings/body-allowance.ts';

const mebibyte = 1024 * 1024;

test('the less is left, the smaller filings must be, and those of sixteen KiB are always carried', () => {
  const allowance = createBodyAllowance(() => 0);
  expect(allowance.filingBytesMax()).toBe(mebibyte);
  allowance.take(4 * mebibyte);
  expect(allowance.filingBytesMax()).toBe(mebibyte / 2);
  allowance.take(40 * mebibyte);
  expect(allowance.filingBytesMax()).toBe(16_384);
});

test('a minute allows half as much again, an hour no more than all', () => {
  let now = 0;
  const allowance = createBodyAllowance(() => now);
  allowance.take(8 * mebibyte);
  now += 60_000;
  expect(allowance.filingBytesMax()).toBe(mebibyte / 2);
  now += 3_600_000;
  expect(allowance.filingBytesMax()).toBe(mebibyte);
});
