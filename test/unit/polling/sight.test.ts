import { describe, expect, test } from 'vitest';
import type { PartnerPage } from '../../../src/partner/filing-schema.ts';
import {
  changeOf,
  isWholeList,
  looksToRest,
  lookQuery,
  sightOf,
  trustAfter,
  untried,
  type Outlook,
} from '../../../src/polling/sight.ts';

type Row = readonly [id: string, status: string, reason?: string | null, completedAt?: string | null];

function page(rows: readonly Row[], total: number | null): PartnerPage {
  const filings = rows.map(([id, status, rejectionReason = null, completedAt = null]) => ({
    id,
    status,
    rejectionReason,
    completedAt,
    createdAt: null,
    document: () => ({}),
  }));
  return { filings, total, length: rows.length, quarantined: [], unreadable: 0, limit: null };
}

const see = (of: Outlook, total: number | null, ...rows: readonly Row[]) => sightOf(of, page(rows, total));
const a: Row = ['a', 'REJECTED', 'no signature'];
const b: Row = ['b', 'REJECTED', 'no affidavit'];

describe('two looks at the list of REJECTED', () => {
  const before = see('rejected', 5, a);

  test.each([
    ['the same', see('rejected', 5, a), null],
    ['one more', see('rejected', 6, b), 'total'],
    ['one more behind the first one', see('rejected', 6, a), 'total'],
    ['one less', see('rejected', 4, a), 'total'],
    ['another first one', see('rejected', 5, b), 'rows'],
    ['the first one for another reason', see('rejected', 5, ['a', 'REJECTED', 'no date']), 'rows'],
    [
      'the first one completed since',
      see('rejected', 5, ['a', 'REJECTED', 'no signature', '2026-01-01']),
      'rows',
    ],
    ['no count any more', see('rejected', null, a), null],
    ['no count any more, and another first one', see('rejected', null, b), 'rows'],
    ['a look at the whole list', see('all', 6, b), null],
  ])('%s: %s', (_, after, change) => {
    expect(changeOf(before, after, untried)).toBe(change);
  });

  test('a first look has nothing to be compared with', () => {
    expect(changeOf(null, before, untried)).toBeNull();
  });

  test('what is only known from counts is compared by its count alone', () => {
    const counted = { of: 'rejected', total: 5, rows: null } as const;
    expect(changeOf(counted, before, untried)).toBeNull();
    expect(changeOf(counted, see('rejected', 6, a), untried)).toBe('total');
  });

  test('only the count tells where the order has proved to mean nothing', () => {
    const trust = { ...untried, isOrdered: false };
    expect(changeOf(before, see('rejected', 5, b), trust)).toBeNull();
    expect(changeOf(before, see('rejected', 6, a), trust)).toBe('total');
  });
});

describe('two looks at a list on one page', () => {
  const c: Row = ['c', 'PENDING'];
  const before = see('all', 2, a, c);

  test.each([
    ['the same', see('all', 2, a, c), null],
    ['the same in another order', see('all', 2, c, a), null],
    ['a filing that moved', see('all', 2, a, ['c', 'PAID']), 'rows'],
    ['a new filing', see('all', 3, b, a, c), 'total'],
    ['another filing in place of one', see('all', 2, a, b), 'rows'],
  ])('%s: %s', (_, after, change) => {
    expect(changeOf(before, after, { ...untried, isOrdered: false })).toBe(change);
  });
});

test.each([
  ['all filings', {}, page([a, b], 2), true],
  ['no filings', {}, page([], 0), true],
  ['a part of them', {}, page([a, b], 3), false],
  ['no count', {}, page([a, b], null), false],
  ['a later page', { offset: 2 }, page([], 2), false],
  ['one status', { status: 'REJECTED' }, page([a, b], 2), false],
])('whether a page of %s is the whole list', (_, asked, shown, isWhole) => {
  expect(isWholeList({ offset: 0, limit: 100, ...asked }, shown)).toBe(isWhole);
});

test('a look is one request that gives way', () => {
  const polite = { offset: 0, isSweep: true, once: true };
  expect(lookQuery('rejected')).toEqual({ ...polite, limit: 1, status: 'REJECTED' });
  expect(lookQuery('all')).toEqual({ ...polite, limit: 100 });
});

describe('alarms in vain', () => {
  test('another first filing in vain is no alarm any more', () => {
    expect(trustAfter(untried, 'rejected', 'rows', 0)).toEqual({ isOrdered: false, vain: 0 });
    expect(trustAfter(untried, 'rejected', 'rows', 1)).toEqual(untried);
  });

  test('another count, and another row of a whole list, make looks rarer until an event is found', () => {
    let trust = untried;
    const rests = [];
    for (let alarm = 0; alarm < 8; alarm += 2) {
      trust = trustAfter(trust, 'rejected', 'total', 0);
      rests.push(looksToRest(trust));
      trust = trustAfter(trust, 'all', 'rows', 0);
      rests.push(looksToRest(trust));
    }
    expect(rests).toEqual([1, 3, 7, 15, 31, 63, 63, 63]);
    expect(looksToRest(trustAfter(trust, 'rejected', 'total', 1))).toBe(0);
  });
});
