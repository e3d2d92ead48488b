import { describe, expect, it, test } from 'vitest';
import {
  causeOf,
  isCurrent,
  needsRestart,
  nextWait,
  patienceMs,
  waitedMs,
  waitsTooLong,
  type QueueLook,
  type Wait,
} from '../../../src/monitoring/wait.ts';

const everyMs = 15_000;
const second = 1_000;
const quiet: QueueLook = { taken: 1, due: false, waiting: 0, paused: false };
const due: QueueLook = { ...quiet, due: true, waiting: 1 };

/** The wait after looks every two seconds for so long, each as `lookAt` says for its time in milliseconds. */
function after(durationMs: number, lookAt: (at: number) => QueueLook, every: number | null = everyMs): Wait {
  let wait = nextWait(null, lookAt(0), every, 0);
  for (let at = 2_000; at <= durationMs; at += 2_000) wait = nextWait(wait, lookAt(at), every, at);
  return wait;
}

describe('work waits', () => {
  test.each([
    ['from the moment that it is seen to be due', 20_000, due, null, 20_000],
    ['from when the next of it should have come', 40_000, quiet, everyMs, 25_000],
    ['by whichever is longer', 40_000, due, everyMs, 40_000],
    ['not at all while none is due and none has to come', 86_400_000, quiet, null, 0],
    ['not at all within an interval', 14_000, quiet, everyMs, 0],
    ['not at all while the queue is paused on purpose', 86_400_000, { ...due, paused: true }, everyMs, 0],
  ] as const)('%s', (_, durationMs, look, every, expected) => {
    expect(waitedMs(after(durationMs, () => look, every))).toBe(expected);
  });

  it('anew whenever some process takes some, however much is behind schedule', () => {
    const behind = (at: number) => ({ ...due, taken: Math.floor(at / 10_000), waiting: 5_000 });
    expect(waitedMs(after(3_608_000, behind))).toBe(8_000);
  });

  it('not for what was due for a moment only', () => {
    expect(waitedMs(after(100_000, (at) => (at % 20_000 === 0 ? quiet : due), null))).toBe(0);
  });

  it('anew without a look before, after looks too far apart, and with another interval', () => {
    const long = after(100_000, () => due);
    expect(waitedMs(long)).toBe(100_000);
    expect(waitedMs(nextWait(null, due, everyMs, 102_000))).toBe(0);
    expect(waitedMs(nextWait(long, due, everyMs, 111_000))).toBe(0);
    expect(waitedMs(nextWait(long, due, 2 * everyMs, 102_000))).toBe(0);
    expect(waitedMs(nextWait(long, due, everyMs, 102_000))).toBe(102_000);
  });
});

describe('patience', () => {
  test.each([
    [200, 30_200],
    [15_000, 45_000],
    [86_400_000, 60_000],
    [null, 60_000],
  ])('with work every %s ms is %i ms', (every, expected) => {
    expect(patienceMs(every)).toBe(expected);
  });

  it('ends two intervals and half a minute after the last poll', () => {
    expect(waitsTooLong(after(60 * second, () => quiet))).toBe(false);
    expect(waitsTooLong(after(62 * second, () => quiet))).toBe(true);
  });

  it('is followed five minutes later by a restart, unless others hold the leases', () => {
    const waited = after(360 * second, () => quiet);
    expect(needsRestart(waited, 'worker')).toBe(false);
    const longer = after(362 * second, () => quiet);
    expect(needsRestart(longer, 'worker')).toBe(true);
    expect(needsRestart(longer, 'connection')).toBe(true);
    expect(needsRestart(longer, 'hanging')).toBe(true);
    expect(needsRestart(longer, 'lease')).toBe(false);
  });
});

it('tells nothing of now once the last look is old', () => {
  const wait = after(4_000, () => due);
  expect([isCurrent(wait, 14_000), isCurrent(wait, 14_001)]).toEqual([true, false]);
});

test.each([
  ['connection', { hangs: true, skipped: 1, isConnected: false }],
  ['hanging', { hangs: true, skipped: 1, isConnected: true }],
  ['lease', { hangs: false, skipped: 1, isConnected: true }],
  ['worker', { hangs: false, skipped: 0, isConnected: true }],
] as const)('the cause is the %s', (expected, { hangs, skipped, isConnected }) => {
  expect(causeOf({ hangs, moved: false, skipped, underWay: 0 }, skipped, isConnected)).toBe(expected);
});
