import { describe, expect, it } from 'vitest';
import {
  concludeListSearch,
  concludeSearch,
  isExplained,
  isSearchDue,
  noDoubt,
  weighDifference,
} from '../../../../src/polling/beliefs/count-differences.ts';

describe('a difference in counts', () => {
  it('is searched for at its second sight, and after that means nothing', () => {
    const first = weighDifference(noDoubt, 2);
    expect(first.verdict).toBe('wait');
    const second = weighDifference(first.doubt, 3);
    expect(second.verdict).toBe('search');
    const after = concludeSearch(second.doubt, 3, false);
    expect(weighDifference(after, 3).verdict).toBe('nothing');
    expect(weighDifference(after, 4).verdict).toBe('wait');
  });

  it('that goes away is forgotten', () => {
    const { doubt } = weighDifference(concludeSearch(noDoubt, 3, false), 0);
    expect(doubt).toEqual(noDoubt);
    expect(concludeSearch({ explained: 5, sights: 3, needed: 32 }, 0, false)).toEqual(noDoubt);
  });

  it('is searched for ever less often while searches find nothing, and as often as at first once one does', () => {
    let doubt = noDoubt;
    const needed = Array.from(
      { length: 8 },
      (_, left) => (doubt = concludeSearch(doubt, left + 1, false)).needed,
    );
    expect(needed).toEqual([4, 8, 16, 32, 64, 64, 64, 64]);
    expect(concludeSearch(doubt, 9, true)).toEqual({ explained: 9, sights: 0, needed: 2 });
  });

  it('is kept by list, searched for at once where that is cheap, and passed over without a count', () => {
    const doubts = new Map();
    expect(isSearchDue(doubts, '', null, true)).toBe(false);
    expect(isSearchDue(doubts, '', 1, false)).toBe(false);
    expect(isSearchDue(doubts, 'REJECTED', 1, true)).toBe(true);
    expect(isSearchDue(doubts, '', 1, false)).toBe(true);
    concludeListSearch(doubts, '', null, true);
    expect(isExplained(doubts, '', 1)).toBe(false);
    concludeListSearch(doubts, '', 1, false);
    expect([isExplained(doubts, '', 1), isExplained(doubts, '', 2), isExplained(doubts, '', null)]).toEqual([
      true,
      false,
      true,
    ]);
    // Patience after a search in vain goes before cheapness.
    expect(isSearchDue(doubts, '', 2, true)).toBe(false);
  });
});
