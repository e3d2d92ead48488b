import { describe, expect, it } from 'vitest';
import {
  concludeListSearch,
  concludeSearch,
  isExplained,
  isSearchDue,
  noDifference,
  weighDifference,
} from '../../../../src/polling/beliefs/count-differences.ts';

describe('a difference in counts', () => {
  it('is searched for at its second sight, and after that means nothing', () => {
    const first = weighDifference(noDifference, 2);
    expect(first.verdict).toBe('wait');
    const second = weighDifference(first.memory, 3);
    expect(second.verdict).toBe('search');
    const after = concludeSearch(second.memory, 3, false);
    expect(weighDifference(after, 3).verdict).toBe('nothing');
    expect(weighDifference(after, 4).verdict).toBe('wait');
  });

  it('that goes away is forgotten', () => {
    const { memory } = weighDifference(concludeSearch(noDifference, 3, false), 0);
    expect(memory).toEqual(noDifference);
    expect(concludeSearch({ explained: 5, polls: 3, needed: 32 }, 0, false)).toEqual(noDifference);
  });

  it('is searched for ever less often while searches find nothing, and as often as at first once one does', () => {
    let memory = noDifference;
    const needed = Array.from(
      { length: 8 },
      (_, left) => (memory = concludeSearch(memory, left + 1, false)).needed,
    );
    expect(needed).toEqual([4, 8, 16, 32, 64, 64, 64, 64]);
    expect(concludeSearch(memory, 9, true)).toEqual({ explained: 9, polls: 0, needed: 2 });
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
