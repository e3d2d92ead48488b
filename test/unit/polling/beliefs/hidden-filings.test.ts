import { describe, expect, it } from 'vitest';
import type { PartnerFiling } from '../../../../src/partner/filing-schema.ts';
import { createIdSet } from '../../../../src/polling/list/id-set.ts';
import { hiddenFilings } from '../../../../src/polling/beliefs/hidden-filings.ts';
import { splitRepeatedRows } from '../../../../src/polling/list/repeated-rows.ts';

describe('filings never seen before, after a baseline with a gap', () => {
  const baselinedAt = 1000;
  const at = (id: string, createdAt: number) => ({ id, createdAt });

  it.each<[string, ReturnType<typeof at>[], number | null, string[]]>([
    ['none came', [], 5, []],
    ['the count has not grown: all of them were hidden', [at('a', 1), at('b', NaN)], 0, ['a', 'b']],
    ['the count has grown by as many', [at('a', 1), at('b', NaN)], 2, []],
    ['it has grown by more', [at('a', NaN)], 9, []],
    ['it has shrunk', [at('a', NaN)], -3, ['a']],
    ['there is none', [at('a', NaN)], null, ['a']],
    ['one says that it was created since', [at('a', 1001), at('b', 900)], 0, ['b']],
    ['one says so without a count', [at('a', 1001), at('b', 900)], null, ['b']],
    ['the birth counted is the one that says so', [at('a', 1001), at('b', 900)], 1, ['b']],
    ['the latest is the birth counted', [at('a', 10), at('b', 900), at('c', NaN)], 1, ['a', 'c']],
    ['created as the baseline began, before or after', [at('a', 1000)], 0, ['a']],
  ])('when %s', (_title, unknown, counted, hidden) => {
    expect([...hiddenFilings(unknown, { baselinedAt, counted })].toSorted()).toEqual(hidden);
  });
});

describe('the rows of a page', () => {
  const filing = (id: string, status = 'PAID'): PartnerFiling => ({
    id,
    status,
    completedAt: null,
    rejectionReason: null,
    createdAt: null,
    document: () => ({}),
  });
  const split = (shown: string[], page: PartnerFiling[]) => {
    const ids = createIdSet();
    for (const id of shown) ids.add(id, 0);
    const { firstShown, repeated } = splitRepeatedRows(page, (id) => ids.add(id, 0) === 'new');
    expect(page.every(({ id }) => ids.has(id))).toBe(true);
    return [firstShown.map(({ id }) => id).join(''), repeated.map(({ id, status }) => `${id} ${status}`)];
  };

  it.each<[string, string[], PartnerFiling[], unknown]>([
    ['new ones are shown for the first time', [], [filing('a'), filing('b')], ['ab', []]],
    ['ones shown before are not', ['a'], [filing('a'), filing('b')], ['b', ['a PAID']]],
    ['two copies alike count once', [], [filing('a'), filing('a')], ['a', []]],
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
