import { describe, expect, it } from 'vitest';
import {
  defaultDoubtLimits as limits,
  isWaitNeeded,
  listDoubt,
  removalDoubt,
  timesDoubt,
  unknownMax,
  type Evidence,
} from '../../../../src/polling/doubt/doubt-policy.ts';

const evidence = (more: Partial<Evidence>): Evidence => ({
  known: 300,
  expected: 300,
  shown: 300,
  unknown: 0,
  gone: 0,
  isDoubted: false,
  ...more,
});

describe('listDoubt', () => {
  it.each<[string, Partial<Evidence>, ReturnType<typeof listDoubt>]>([
    ['all is as it was', {}, null],
    ['another list', { shown: 0, unknown: 40 }, 'other_list'],
    ['another list with one filing', { shown: 0, unknown: 1 }, 'other_list'],
    ['another list that shares less than a tenth', { shown: 29, unknown: 40 }, 'other_list'],
    ['one that shares a tenth', { shown: 30, unknown: 40 }, null],
    ['no list, the filings are there', { shown: 0 }, null],
    ['no list, half of the filings answer 404', { shown: 0, gone: 150 }, null],
    ['no list, most of the filings answer 404', { shown: 0, gone: 151 }, 'other_list'],
    ['no list, and a doubt that is not over', { shown: 0, isDoubted: true }, 'other_list'],
    ['the own list, and a doubt that is not over', { isDoubted: true }, null],
    ['a bulk of new filings', { unknown: 1_000 }, null],
    ['a flood of new filings', { unknown: 1_001 }, 'unknown_wave'],
    [
      'as many new filings as are known',
      { known: 5_000, expected: 5_000, shown: 5_000, unknown: 5_000 },
      null,
    ],
    ['more of them', { known: 5_000, expected: 5_000, shown: 5_000, unknown: 5_001 }, 'unknown_wave'],
    ['nine known filings', { known: 9, expected: 9, shown: 0, unknown: 5_000 }, null],
    ['ten known filings', { known: 10, expected: 10, shown: 0, unknown: 1 }, 'other_list'],
    ['ends that show a tenth of a page', { known: 800, expected: 100, shown: 10, unknown: 200 }, null],
    ['ends that show less', { known: 800, expected: 100, shown: 9, unknown: 200 }, 'other_list'],
    ['lists that need not show anything', { known: 800, expected: 9, shown: 0, unknown: 5 }, null],
  ])('%s', (_title, more, expected) => {
    expect(listDoubt(evidence(more), limits)).toBe(expected);
  });

  it('believes any list where none has to show anything', () => {
    const found = evidence({ shown: 0, unknown: 40 });
    expect(listDoubt(found, { ...limits, shownPercent: 0 })).toBeNull();
  });
});

describe('removalDoubt', () => {
  it.each([
    [300, 20, null],
    [300, 21, 'removal_wave'],
    [5_000, 50, null],
    [5_000, 51, 'removal_wave'],
    [9, 9, null],
  ])('of %d known filings %d answer 404: %s', (known, gone, expected) => {
    expect(removalDoubt({ known, gone }, limits)).toBe(expected);
  });

  it('believes all of them at 100 percent', () => {
    expect(removalDoubt({ known: 300, gone: 300 }, { ...limits, removedPercent: 100 })).toBeNull();
  });
});

describe('timesDoubt', () => {
  it.each([
    [300, 200, 200, null, 'completed_at_wave'],
    [300, 200, 101, null, 'completed_at_wave'],
    [300, 200, 100, null, null],
    [300, 200, 100, 'completed_at_wave', 'completed_at_wave'],
    [300, 200, 3, 'completed_at_wave', 'completed_at_wave'],
    [300, 200, 5, 'removal_wave', null],
    [300, 200, 2, 'completed_at_wave', null],
    [300, 2, 2, null, null],
    [300, 3, 3, null, 'completed_at_wave'],
    [9, 9, 9, null, null],
  ] as const)(
    'of %d known filings, %d with a time, %d have another time, after %s: %s',
    (known, timed, moved, standing, expected) => {
      expect(timesDoubt({ known, timed, moved }, standing)).toBe(expected);
    },
  );
});

describe('isWaitNeeded', () => {
  it.each([
    ['nothing shown yet', { known: 300, shown: 0, unknown: 0, counted: 300 }, false],
    ['as many known as unknown ones', { known: 300, shown: 50, unknown: 50, counted: 300 }, false],
    ['more unknown ones', { known: 300, shown: 49, unknown: 50, counted: 300 }, true],
    ['a count that tells of a flood', { known: 300, shown: 100, unknown: 1, counted: 1_301 }, true],
    ['a count that tells of a bulk', { known: 300, shown: 100, unknown: 1, counted: 1_300 }, false],
    ['nine known filings', { known: 9, shown: 0, unknown: 50, counted: 5_000 }, false],
  ])('%s', (_title, sighted, expected) => {
    expect(isWaitNeeded(sighted, limits)).toBe(expected);
  });

  it('takes the larger of both limits', () => {
    expect([unknownMax(10, limits), unknownMax(5_000, limits)]).toEqual([1_000, 5_000]);
  });
});
