import { describe, expect, it } from 'vitest';
import {
  baselineVerdict,
  looksNeeded,
  isAnotherPassWorthwhile,
  stillUnlisted,
  type Pass,
  type PassHistory,
} from '../../../../src/polling/beliefs/passes.ts';

describe('another pass over the list', () => {
  const pass: Pass = {
    end: 'complete',
    difference: 0,
    unlistedCount: 0,
    unreadable: 0,
    added: 0,
    repeatShare: 0,
    unseen: 0,
    pages: 10,
  };
  const history: PassHistory = { passes: 1, unseenBefore: Infinity, baselined: true, searching: false };

  it.each<[string, Partial<Pass>, Partial<PassHistory>, boolean]>([
    ['everything was seen', {}, {}, false],
    ['few were not seen: they are read one by one', { unseen: 10 }, {}, false],
    ['many were not seen', { unseen: 11 }, {}, true],
    ['passes hardly help', { unseen: 95 }, { passes: 2, unseenBefore: 100 }, false],
    ['passes help', { unseen: 50 }, { passes: 2, unseenBefore: 100 }, true],
    ['the list is broken', { unseen: 500, end: 'broken' }, {}, false],
    ['the list is cut', { unseen: 500, end: 'cut' }, {}, false],
    ['there were enough', { unseen: 50 }, { passes: 60, unseenBefore: 100 }, false],
    ['somebody is searched for', { difference: 1 }, { searching: true }, true],
    ['what is searched for cannot be read', { difference: 1, unreadable: 1 }, { searching: true }, false],
    ['there are fewer than known', { difference: -1 }, { searching: true }, false],
    ['a stable order has been searched', { difference: 1 }, { searching: true, passes: 2 }, false],
    [
      'an unstable one has been searched',
      { difference: 1, repeatShare: 0.3 },
      { searching: true, passes: 2 },
      true,
    ],
    [
      'an unstable one has been searched enough',
      { difference: 1, repeatShare: 0.3 },
      { searching: true, passes: 14 },
      false,
    ],
    ['nobody is searched for', { difference: 1 }, {}, false],
    ['a baseline grows', { difference: 5, added: 3 }, { baselined: false }, true],
    ['a baseline grows without a count', { difference: null, added: 3 }, { baselined: false }, true],
    ['a baseline is dry', { difference: 5 }, { baselined: false }, false],
    ['a baseline is complete', { added: 3 }, { baselined: false }, false],
    [
      'a baseline lacks what cannot be read',
      { difference: 2, unreadable: 2, added: 3 },
      { baselined: false },
      false,
    ],
  ])('when %s (%j, %j): %j', (_title, more, past, expected) => {
    expect(isAnotherPassWorthwhile({ ...pass, ...more }, { ...history, ...past })).toBe(expected);
  });

  it.each<[string, Partial<Pass>, number, object]>([
    ['the counts agree', {}, 0, { baselined: true, pollsWithoutNews: 0 }],
    ['more is known than counted', { difference: -3 }, 0, { baselined: true, pollsWithoutNews: 0 }],
    [
      'only what cannot be read is missing',
      { difference: 2, unreadable: 2 },
      0,
      { baselined: true, pollsWithoutNews: 0 },
    ],
    ['something new was found', { difference: 2, added: 1 }, 2, { baselined: false, pollsWithoutNews: 0 }],
    ['nothing new was found', { difference: 2 }, 0, { baselined: false, pollsWithoutNews: 1 }],
    [
      'nothing new was found for the third time',
      { difference: 2 },
      2,
      { baselined: true, pollsWithoutNews: 3 },
    ],
    ['the same without a count', { difference: null }, 2, { baselined: true, pollsWithoutNews: 3 }],
    [
      'nothing new was found in an unstable order',
      { difference: 2, repeatShare: 0.37 },
      2,
      { baselined: false, pollsWithoutNews: 3 },
    ],
    [
      'the same often enough',
      { difference: 2, repeatShare: 0.37 },
      12,
      { baselined: true, pollsWithoutNews: 13 },
    ],
    [
      'the list ends too early, once',
      { difference: 2, end: 'short' },
      0,
      { baselined: false, pollsWithoutNews: 1 },
    ],
    [
      'the list is cut: what stands behind is not to be had',
      { difference: 2, end: 'cut', added: 5 },
      0,
      { baselined: true, pollsWithoutNews: 0 },
    ],
    [
      'the list is broken, whatever it counts',
      { end: 'broken' },
      2,
      { baselined: false, pollsWithoutNews: 2 },
    ],
  ])('completes the baseline when %s: %j', (_title, more, pollsWithoutNews, expected) => {
    expect(baselineVerdict({ ...pass, ...more }, { pollsWithoutNews, unlistedCount: 0 })).toEqual({
      ...expected,
      unlistedCount: 0,
    });
  });

  it.each<[string, Partial<Pass>, { pollsWithoutNews: number; unlistedCount: number }, number]>([
    ['the first dry poll', { difference: 5, unlistedCount: 5 }, { pollsWithoutNews: 0, unlistedCount: 9 }, 5],
    [
      'a further one that counts more',
      { difference: 7, unlistedCount: 7 },
      { pollsWithoutNews: 2, unlistedCount: 5 },
      5,
    ],
    [
      'a further one that counts fewer',
      { difference: 3, unlistedCount: 3 },
      { pollsWithoutNews: 1, unlistedCount: 5 },
      3,
    ],
    [
      'a count that wavers',
      { difference: 200, unlistedCount: 0 },
      { pollsWithoutNews: 2, unlistedCount: 5 },
      0,
    ],
    [
      'records that cannot be read',
      { difference: 2, unlistedCount: 2, unreadable: 2 },
      { pollsWithoutNews: 0, unlistedCount: 0 },
      2,
    ],
    ['a broken list', { end: 'broken', unlistedCount: 9 }, { pollsWithoutNews: 2, unlistedCount: 5 }, 5],
  ])('keeps how many filings a baseline leaves out after %s', (_title, more, before, unlistedCount) => {
    expect(baselineVerdict({ ...pass, ...more }, before).unlistedCount).toBe(unlistedCount);
  });

  it.each<[string, Partial<Pass>, number]>([
    ['the count is as before', { difference: 5 }, 5],
    ['the count grew with births not seen yet', { difference: 8 }, 5],
    ['the count came down', { difference: 2 }, 2],
    ['fewer are counted than known', { difference: -1 }, 0],
    ['there is no count', { difference: null }, 5],
    ['filings came while it was read', { difference: 2, added: 1 }, 5],
    ['the list is broken', { difference: 0, end: 'broken' }, 5],
  ])('of 5 unlistedCount filings, when %s (%j), %i are left', (_title, more, left) => {
    expect(stillUnlisted({ ...pass, ...more }, 5)).toBe(left);
  });

  it('overlooks less than one in 100 000 after so many dry looks', () => {
    for (const share of [0.01, 0.2, 0.37, 0.5, 0.7])
      expect(Math.max(share, 0.4) ** looksNeeded(share)).toBeLessThanOrEqual(1e-5);
    expect([looksNeeded(0), looksNeeded(0.005), looksNeeded(0.9), looksNeeded(1)]).toEqual([3, 3, 40, 40]);
  });
});
