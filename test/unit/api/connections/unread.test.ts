import { expect, test } from 'vitest';
import { lookAgain, paceBytes, type Unread } from '../../../../src/api/connections/unread.ts';

/** Looks each second at a client that takes so many bytes in each, after a first bite. */
function afterSeconds(seconds: number, bytesASecond: number, firstBite = 2_000_000): Unread | null {
  let unread: Unread | null = null;
  for (let second = 0; second <= seconds; second += 1) {
    unread = lookAgain(unread, {
      taken: firstBite + second * bytesASecond,
      waits: true,
      at: second * 1_000,
    });
  }
  return unread;
}

test.each([
  ['nothing', 0, 30_000],
  ['1 500 bytes every eight seconds', 1_500 / 8, 28_626],
])('a client that takes %s is waited for nearly all the time', (_what, bytes, waitedMs) => {
  expect(afterSeconds(30, bytes)?.waitedMs).toBeCloseTo(waitedMs, -1);
});

test('a client at the least pace is not waited for, however long it takes', () => {
  expect(afterSeconds(3_000, paceBytes)?.waitedMs).toBe(0);
});

test('a client that was fast is half a minute ahead at most', () => {
  const fast = afterSeconds(100, 50_000_000);
  expect(fast?.waitedMs).toBe(-30_000);
});

test('a client that has taken all is forgotten', () => {
  const slow = afterSeconds(20, 0);
  expect(lookAgain(slow, { taken: 5_000_000, waits: false, at: 21_000 })).toBeNull();
});
