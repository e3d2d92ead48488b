import { describe, expect, it } from 'vitest';
import type { PartnerFiling } from '../../../../src/partner/filing-schema.ts';
import { createIdSet } from '../../../../src/polling/list/id-set.ts';
import { oldNewcomers } from '../../../../src/polling/beliefs/hidden-filings.ts';
import { splitSights } from '../../../../src/polling/list/repeated-rows.ts';

describe('newcomers after a doubtful baseline', () => {
  const baselinedAt = 1000;
  const at = (id: string, createdAt: number) => ({ id, createdAt });

  it.each<[string, ReturnType<typeof at>[], number | null, string[]]>([
    ['nobody came', [], 5, []],
    ['the count has not grown: all of them were hidden', [at('a', 1), at('b', NaN)], 0, ['a', 'b']],
    ['the count has grown by as many', [at('a', 1), at('b', NaN)], 2, []],
    ['it has grown by more', [at('a', NaN)], 9, []],
    ['it has shrunk', [at('a', NaN)], -3, ['a']],
    ['there is none', [at('a', NaN)], null, ['a']],
    ['one says that it was created since', [at('a', 1001), at('b', 900)], 0, ['b']],
    ['one says so without a count', [at('a', 1001), at('b', 900)], null, ['b']],
    ['the birth counted is the one that says so', [at('a', 1001), at('b', 900)], 1, ['b']],
    ['the latest is the birth counted', [at('a', 10), at('b', 900), at('c', NaN)], 1, ['a', 'c']],
    ['created as the baseline began: nobody knows', [at('a', 1000)], 0, ['a']],
  ])('when %s', (_title, newcomers, counted, old) => {
    expect([...oldNewcomers(newcomers, { baselinedAt, counted })].toSorted()).toEqual(old);
  });
});

describe('the sights of a page', () => {
  const filing = (id: string, status = 'PAID'): PartnerFiling => ({
    id,
    status,
    completedAt: null,
    rejectionReason: null,
    document: () => ({}),
  });
  const split = (shown: string[], page: PartnerFiling[]) => {
    const ids = createIdSet();
    for (const id of shown) ids.add(id);
    const { first, again } = splitSights(page, ids.add);
    expect(page.every(({ id }) => ids.has(id))).toBe(true);
    return [first.map(({ id }) => id).join(''), again.map(({ id, status }) => `${id} ${status}`)];
  };

  it.each<[string, string[], PartnerFiling[], unknown]>([
    ['new ones are first sights', [], [filing('a'), filing('b')], ['ab', []]],
    ['those shown before are not', ['a'], [filing('a'), filing('b')], ['b', ['a PAID']]],
    ['two copies alike are one sight', [], [filing('a'), filing('a')], ['a', []]],
    [
      'of two that differ neither is believed',
      [],
      [filing('a'), filing('a', 'UNPAID'), filing('b')],
      ['b', ['a PAID', 'a UNPAID']],
    ],
  ])('%s', (_title, shown, page, expected) => {
    expect(split(shown, page)).toEqual(expected);
  });
});
