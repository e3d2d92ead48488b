import { describe, expect, it } from 'vitest';
import {
  believed,
  isLookNeeded,
  weigh,
  type DoubtReason,
  type Evidence,
  type Verdict,
} from '../../../../src/polling/beliefs/weigh.ts';

const evidence = (more: Partial<Evidence>): Evidence => ({
  known: 300,
  expected: 300,
  shown: 300,
  unknown: 0,
  gone: 0,
  goneBefore: 0,
  timed: 0,
  moved: 0,
  isOther: false,
  baselined: true,
  standing: null,
  ...more,
});

const standing = (reason: DoubtReason) => {
  const counts = { known: 300, shown: 300, unknown: 0, gone: 0, moved: 0 };
  return { reason, ...counts, identity: '', since: 1, accepted: false };
};

const reasonOf = (more: Partial<Evidence>) => weigh(evidence(more)).reason;

describe('the list is doubted', () => {
  it.each<[string, Partial<Evidence>, DoubtReason | null]>([
    ['all is as it was', {}, null],
    ['another list', { shown: 0, unknown: 40 }, 'other_list'],
    ['another list with one filing', { shown: 0, unknown: 1 }, 'other_list'],
    ['another list that shares less than a tenth', { shown: 29, unknown: 40 }, 'other_list'],
    ['one that shares a tenth', { shown: 30, unknown: 40 }, null],
    ['no list, the filings are there', { shown: 0 }, null],
    ['no list, half of the filings answer 404', { shown: 0, goneBefore: 150 }, null],
    ['no list, most of the filings answer 404', { shown: 0, goneBefore: 151 }, 'other_list'],
    ['no list, and a doubt that is not over', { shown: 0, standing: standing('removal_wave') }, 'other_list'],
    ['the own list, and a doubt that is not over', { standing: standing('other_list') }, null],
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
    expect(reasonOf(more)).toBe(expected);
  });
});

describe('removals are doubted', () => {
  it.each([
    [300, 20, null],
    [300, 21, 'removal_wave'],
    [5_000, 50, null],
    [5_000, 51, 'removal_wave'],
    [9, 9, null],
  ])('of %d known filings %d answer 404: %s', (known, gone, expected) => {
    expect(reasonOf({ known, gone })).toBe(expected);
  });
});

describe('times are doubted', () => {
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
    (known, timed, moved, before, expected) => {
      const doubt = before === null ? null : standing(before);
      expect(reasonOf({ known, timed, moved, standing: doubt })).toBe(expected);
    },
  );
});

describe('isLookNeeded', () => {
  it.each<[string, Partial<Evidence>, boolean]>([
    ['nothing shown yet', { shown: 0 }, false],
    ['as many known as unknown ones', { shown: 50, unknown: 50 }, false],
    ['more unknown ones', { shown: 49, unknown: 50 }, true],
    ['two times that have moved', { shown: 50, moved: 2 }, false],
    ['three of them', { shown: 50, moved: 3 }, true],
    ['a doubt that is not over', { standing: standing('other_list') }, true],
    ['nine known filings', { known: 9, shown: 0, unknown: 50 }, false],
    ['no baseline', { baselined: false, shown: 0, unknown: 50 }, false],
  ])('%s', (_title, more, expected) => {
    expect(isLookNeeded(evidence(more))).toBe(expected);
  });
});

describe('what a verdict holds back', () => {
  const held = ({ list, removals, times }: Verdict) => ({ list, removals, times });

  it.each<[string, Partial<Evidence>, ReturnType<typeof held>]>([
    ['all of another account', { isOther: true }, { list: true, removals: true, times: true }],
    ['all of another list', { shown: 0, unknown: 40 }, { list: true, removals: true, times: true }],
    ['removals alone', { gone: 30 }, { list: false, removals: true, times: false }],
    ['times alone', { timed: 9, moved: 9 }, { list: false, removals: false, times: true }],
    ['both', { gone: 30, timed: 9, moved: 9 }, { list: false, removals: true, times: true }],
  ])('%s', (_title, more, expected) => {
    expect(held(weigh(evidence(more)))).toEqual(expected);
    expect(weigh(evidence({ ...more, baselined: false }))).toEqual(believed);
  });

  it('nothing after the acceptance of a doubt, but another account than the accepted one', () => {
    const accepted = { standing: { ...standing('removal_wave'), accepted: true } };
    expect(weigh(evidence({ ...accepted, gone: 30 }))).toEqual({ ...believed, isOverridden: true });
    expect(weigh(evidence(accepted))).toEqual(believed);
    expect(weigh(evidence({ ...accepted, isOther: true }))).toMatchObject({
      reason: 'other_account',
    });
  });
});
