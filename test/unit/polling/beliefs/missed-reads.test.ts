import { describe, expect, it } from 'vitest';
import {
  decodeMissedRead,
  encodeMissedRead,
  isRetryDue,
  isSecondAbsence,
  missedByAbsence,
  missedByFailure,
  type MissedRead,
} from '../../../../src/polling/beliefs/missed-reads.ts';

describe('a missed read', () => {
  const gone = missedByAbsence(undefined, 1000, 700);

  it('by absence counts from its first 404 and is asked for at once', () => {
    expect(gone).toEqual({
      gone: true,
      since: 1000,
      lastAt: 1000,
      notBefore: 700,
      failures: 0,
      retryAt: 1000,
    });
    expect(missedByAbsence(gone, 1500, 1200)).toEqual({ ...gone, lastAt: 1500 });
  });

  it.each<[string, MissedRead | undefined, number, boolean]>([
    ['no earlier one', undefined, 2000, false],
    ['one in an earlier poll', gone, 1001, true],
    ['one in the same poll', gone, 1000, false],
    ['one in a poll that overlaps', gone, 900, false],
    ['a failed read', missedByFailure(undefined, 1000, 700, 100), 2000, false],
  ])('makes a second absence with %s: %j', (_title, before, pollStartedAt, expected) => {
    expect(isSecondAbsence(before, pollStartedAt)).toBe(expected);
  });

  it('by absence that was noted while the clock was ahead counts from the next 404', () => {
    expect(missedByAbsence({ ...gone, since: 86_400_000 }, 1500, 1200)).toMatchObject({ since: 1500 });
  });

  it('by failure is repeated in the next poll, then ever less often up to a quarter of an hour', () => {
    let missed = missedByFailure(undefined, 1000, 700, 15_000);
    expect(missed).toEqual({
      gone: false,
      since: 1000,
      lastAt: 1000,
      notBefore: 700,
      failures: 1,
      retryAt: 1000,
    });
    const waits = Array.from({ length: 8 }, () => {
      missed = missedByFailure(missed, 2000, 1900, 15_000);
      return missed.retryAt - 2000;
    });
    expect(waits).toEqual([15_000, 45_000, 105_000, 225_000, 465_000, 900_000, 900_000, 900_000]);
    expect(missed).toMatchObject({ since: 1000, notBefore: 700, failures: 9 });
  });

  it.each([
    [999, true],
    [1_000, true],
    [1_001, false],
    [901_000, false],
    [86_400_000, true],
  ])('to be retried at %d is due at 1000: %j', (retryAt, expected) => {
    expect(isRetryDue({ ...gone, retryAt }, 1_000)).toBe(expected);
  });

  it('keeps a 404 on record through failures, and counts from the 404 after them', () => {
    expect(missedByFailure(gone, 2000, 1900, 100)).toMatchObject({ gone: true, since: 1000, failures: 1 });
    const failed = missedByFailure(undefined, 1000, 700, 100);
    expect(missedByAbsence(failed, 2000, 1900)).toMatchObject({ gone: true, since: 2000, notBefore: 700 });
  });

  it('is read back as it was stored', () => {
    const missed = missedByFailure(gone, 2000, 1900, 100);
    expect(decodeMissedRead(encodeMissedRead(missed))).toEqual(missed);
  });
});
