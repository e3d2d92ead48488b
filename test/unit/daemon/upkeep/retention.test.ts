import { describe, expect, it } from 'vitest';
import { oldestKept } from '../../../../src/daemon/upkeep/retention.ts';

const now = 1_800_000_000_000;
const hour = 3_600_000;
const day = 24 * hour;
const calm = { now, wallNow: now, steadySince: now - hour, retentionMs: 30 * day };

describe('oldestKept', () => {
  it.each([
    ['goes by two clocks that agree', calm, now - 30 * day],
    ['goes by two that differ a little', { ...calm, wallNow: now - 240_000 }, now - 30 * day],
    ["keeps everything where Redis's clock is 40 days ahead", { ...calm, wallNow: now - 40 * day }, null],
    [
      "keeps everything where the process's own clock is behind or ahead",
      { ...calm, wallNow: now + hour },
      null,
    ],
    ['keeps everything for an hour after a step', { ...calm, steadySince: now - hour + 1 }, null],
    [
      'waits no longer than the retention',
      { ...calm, steadySince: now - 2_000, retentionMs: 2_000 },
      now - 2_000,
    ],
  ])('%s', (_title, input, expected) => {
    expect(oldestKept(input)).toBe(expected);
  });
});
