import { expect, it } from 'vitest';
import { createSlowWays } from '../../../../src/delivery/pace/slow-ways.ts';

const rate = 2;

/** Attempts at these times (ms) that took these milliseconds; null while in flight. */
function waysOf(...attempts: readonly (readonly [at: number, tookMs: number | null])[]) {
  const ways = createSlowWays();
  for (const [at, tookMs] of attempts) {
    const attempt = {};
    ways.started(attempt, at);
    ways.connected(attempt, at);
    if (tookMs !== null) ways.ended(attempt, tookMs);
  }
  return ways;
}

it('an attempt waits a second from the one that may share its second', () => {
  expect(waysOf([0, 10]).nextFrom(rate, 500)).toBe(-Infinity);
  expect(waysOf([0, 10], [500, 10]).nextFrom(rate, 600)).toBe(1_000);
  expect(waysOf([0, 10], [500, 10], [1_000, 10]).nextFrom(0.5, 1_100)).toBe(3_000);
});

it("and as much longer as that one took longer than the quickest, up to the receiver's own time", () => {
  expect(waysOf([0, 130], [500, 10]).nextFrom(rate, 600)).toBe(1_120);
  expect(waysOf([0, 5_000], [500, 10]).nextFrom(rate, 600)).toBe(1_200);
  expect(waysOf([0, 2_000], [500, 2_000]).nextFrom(rate, 2_600)).toBe(1_000);
});

it('and while that one is in flight', () => {
  expect(waysOf([0, null], [500, 10]).nextFrom(rate, 100)).toBe(1_090);
  expect(waysOf([0, null], [500, 10]).nextFrom(rate, 900)).toBe(1_200);
});

it('and from when its connection was open, however long that took', () => {
  const ways = createSlowWays();
  const [slow, quick] = [{}, {}];
  ways.nextFrom(rate, 0);
  ways.started(slow, 0);
  ways.started(quick, 500);
  ways.connected(quick, 500);
  // The one that is being opened may come at any time, so that one more is too many.
  expect(ways.nextFrom(rate, 1_400)).toBe(1_500);
  ways.connected(slow, 5_000);
  expect(ways.nextFrom(rate, 5_000)).toBe(1_500);
  const third = {};
  ways.started(third, 5_000);
  ways.connected(third, 5_010);
  expect(ways.nextFrom(rate, 5_010)).toBe(6_000);
  expect(ways.lateMs(rate, 5_900)).toBe(5_000);
  expect(ways.lateMs(rate, 6_000)).toBe(10);
});

it('and while as many are being opened as may come within a second, none is made', () => {
  const ways = createSlowWays();
  const [one, two] = [{}, {}];
  for (const attempt of [one, two]) ways.started(attempt, 0);
  expect(ways.nextFrom(rate, 9_000)).toBe(Infinity);
  ways.ended(one, null);
  expect(ways.nextFrom(rate, 9_000)).toBe(-Infinity);
  ways.connected(two, 9_000);
  ways.connected(two, null);
  expect(ways.nextFrom(1, 9_100)).toBe(Infinity);
  ways.ended(two, 30);
  expect(ways.nextFrom(1, 9_100)).toBe(1_000);
});

it('what was not sent does not count', () => {
  const ways = createSlowWays();
  const attempts = [{}, {}, {}];
  ways.nextFrom(rate, 0);
  for (const [i, attempt] of attempts.entries()) {
    ways.started(attempt, i * 500);
    ways.connected(attempt, i * 500);
  }
  ways.ended(attempts[1] ?? {}, null);
  expect(ways.nextFrom(rate, 1_000)).toBe(1_000);
});
