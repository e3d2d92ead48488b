import { describe, expect, it } from 'vitest';
import {
  concludeListSearch,
  isExplained,
  isSearchDue,
  type CountDifferences,
} from '../../../../src/polling/beliefs/count-differences.ts';

describe('a difference in counts', () => {
  it('is searched for at its second sight, and after that means nothing', () => {
    const differences: CountDifferences = new Map();
    expect(isSearchDue(differences, '', 2, false)).toBe(false);
    expect(isSearchDue(differences, '', 3, false)).toBe(true);
    concludeListSearch(differences, '', 3, false);
    for (let poll = 0; poll < 9; poll += 1) expect(isSearchDue(differences, '', 3, true)).toBe(false);
    expect([4, 4, 4, 4].map((other) => isSearchDue(differences, '', other, false))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('that goes away is forgotten', () => {
    for (const forget of [
      (differences: CountDifferences) => void isSearchDue(differences, '', 0, false),
      (differences: CountDifferences) => concludeListSearch(differences, '', 0, false),
    ]) {
      const differences: CountDifferences = new Map([['', { explained: 5, polls: 3, needed: 32 }]]);
      forget(differences);
      expect(differences.get('')).toEqual({ explained: 0, polls: 0, needed: 2 });
    }
  });

  it('is searched for ever less often while searches find nothing, and as often as at first once one does', () => {
    const differences: CountDifferences = new Map();
    const needed = Array.from({ length: 8 }, (_, left) => {
      concludeListSearch(differences, '', left + 1, false);
      return differences.get('')?.needed;
    });
    expect(needed).toEqual([4, 8, 16, 32, 64, 64, 64, 64]);
    concludeListSearch(differences, '', 9, true);
    expect(differences.get('')).toEqual({ explained: 9, polls: 0, needed: 2 });
  });

  it('is kept by list, searched for at once where that is cheap, and passed over without a count', () => {
    const differences = new Map();
    expect(isSearchDue(differences, '', null, true)).toBe(false);
    expect(isSearchDue(differences, '', 1, false)).toBe(false);
    expect(isSearchDue(differences, 'REJECTED', 1, true)).toBe(true);
    expect(isSearchDue(differences, '', 1, false)).toBe(true);
    concludeListSearch(differences, '', null, true);
    expect(isExplained(differences, '', 1)).toBe(false);
    concludeListSearch(differences, '', 1, false);
    expect([
      isExplained(differences, '', 1),
      isExplained(differences, '', 2),
      isExplained(differences, '', null),
    ]).toEqual([true, false, true]);
    // Patience after a search in vain goes before cheapness.
    expect(isSearchDue(differences, '', 2, true)).toBe(false);
  });
});
