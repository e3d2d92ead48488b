import { describe, expect, it } from 'vitest';
import type { PartnerPage } from '../../../../src/partner/filing-schema.ts';
import {
  advance,
  isSteady,
  nextStep,
  reliableTotal,
  skipPage,
  startPosition,
  type ScanPosition,
  type ScanStep,
  type TotalTrust,
} from '../../../../src/polling/list/scan-position.ts';

const never: TotalTrust = { atLeast: Infinity, afterFullPage: 'never' };
const wary: TotalTrust = { atLeast: 0, afterFullPage: 'never' };
const dated: TotalTrust = { atLeast: 0, afterFullPage: 'newest_first' };
const easy: TotalTrust = { atLeast: 0, afterFullPage: 'always' };

/**
 * One page of a story: how many filings, how many of them new, and what the service says. `skip` is a page
 * left out.
 */
type Told =
  | {
      length: number;
      fresh?: number;
      total: number | null;
      limit?: number | null;
      /** Days on which its filings were created, from the top; the last for the others too. */
      days?: readonly number[];
    }
  | 'skip';

function tell(trust: TotalTrust, pages: readonly Told[]): ScanPosition {
  let position = startPosition(trust);
  for (const told of pages)
    position =
      told === 'skip' ? skipPage(position) : advance(position, pageOf(told), told.fresh ?? told.length);
  return position;
}

function pageOf({ length, total, limit = 100, days }: Exclude<Told, 'skip'>): PartnerPage {
  const filings = Array.from({ length: days === undefined ? 0 : length }, (_, i) => ({
    id: `f${i}`,
    status: 'PAID',
    completedAt: null,
    rejectionReason: null,
    createdAt: `2026-01-${String(days?.[i] ?? days?.at(-1)).padStart(2, '0')}T00:00:00Z`,
    document: () => ({}),
  }));
  return { filings, quarantined: [], unreadable: 0, length, total, limit };
}

const full = (total: number | null) => ({ length: 100, total });
const clamped = (length: number, total: number | null, limit: number | null = length) => ({
  length,
  total,
  limit,
});
const repeated = (total: number | null) => ({ length: 100, fresh: 0, total });

describe('nextStep', () => {
  it.each<[string, TotalTrust, readonly Told[], string]>([
    ['an empty list', wary, [{ length: 0, total: 0 }], 'complete'],
    ['an empty list without a total', wary, [{ length: 0, total: null }], 'complete'],
    ['more to come', wary, [full(250)], 'continue'],
    ['a short page within the list', wary, [clamped(20, 250, 100)], 'continue'],
    ['the last, short page', wary, [full(250), full(250), { length: 50, total: 250 }], 'complete'],
    ['exactly the total on full pages', wary, [full(200), full(200)], 'continue'],
    ['exactly the total on full pages, trusting', easy, [full(200), full(200)], 'complete'],
    ['exactly the total, then nothing', wary, [full(200), full(200), { length: 0, total: 200 }], 'complete'],
    ['a clamp that is told', wary, [clamped(20, 40), clamped(20, 40)], 'continue'],
    ['a clamp that is not told', wary, [clamped(20, 40, 100), clamped(20, 40, 100)], 'continue'],
    ['a clamp that is not told, trusting', easy, [clamped(20, 40, 100), clamped(20, 40, 100)], 'complete'],
    [
      'exactly the total on full pages, newest first',
      dated,
      [full(200), { ...full(200), days: [20, 19, 19, 18] }],
      'complete',
    ],
    [
      'exactly the total on full pages, oldest first',
      dated,
      [full(200), { ...full(200), days: [18, 19, 20] }],
      'continue',
    ],
    [
      'exactly the total on full pages, all created at once',
      dated,
      [full(200), { ...full(200), days: [20] }],
      'continue',
    ],
    [
      'exactly the total on full pages, newest first but for one',
      dated,
      [full(200), { ...full(200), days: [20, 18, 19, 1] }],
      'continue',
    ],
    [
      'exactly a total that moved, newest first',
      dated,
      [full(201), { ...full(200), days: [20, 18] }],
      'continue',
    ],
    [
      'exactly the total with a row repeated, newest first',
      dated,
      [full(200), { ...full(200), fresh: 99, days: [20, 18] }],
      'continue',
    ],
    [
      'a total below what is known, newest first',
      { ...dated, atLeast: 201 },
      [full(200), { ...full(200), days: [20, 18] }],
      'continue',
    ],
    [
      'a total below what is known, after a page that is shorter than one before it',
      { ...wary, atLeast: 151 },
      [full(150), { length: 50, total: 150 }],
      'complete',
    ],
    [
      'a total below what is known, after pages that are all clamped without a word',
      { ...wary, atLeast: 151 },
      [clamped(50, 100, 100), clamped(50, 100, 100)],
      'continue',
    ],
    [
      'no total believed, after a page that is shorter than one before it',
      never,
      [full(150), { length: 50, total: 150 }],
      'continue',
    ],
    [
      'a total below what is known',
      { atLeast: 30, afterFullPage: 'always' },
      [clamped(20, 20, 100)],
      'continue',
    ],
    ['no total believed', never, [{ length: 50, total: 50 }], 'continue'],
    [
      'no total believed, then nothing',
      never,
      [
        { length: 50, total: 50 },
        { length: 0, total: 50 },
      ],
      'complete',
    ],
    ['more served than counted', wary, [full(50)], 'continue'],
    ['more served than counted on a short page', wary, [full(50), { length: 30, total: 50 }], 'continue'],
    ['more served than counted, then nothing', wary, [full(50), { length: 0, total: 50 }], 'complete'],
    ['a total that is missing', wary, [{ length: 30, total: null }], 'continue'],
    ['a total that is missing later', wary, [full(130), { length: 30, total: null }], 'complete'],
    ['an empty page before the total', wary, [full(250), { length: 0, total: 250 }], 'early'],
    ['the first page for ever', wary, [full(900), repeated(900), repeated(900), repeated(900)], 'broken'],
    ['the first page twice', wary, [full(900), repeated(900), repeated(900)], 'continue'],
    [
      'the last page for ever',
      wary,
      [full(900), full(900), repeated(900), repeated(900), repeated(900)],
      'short',
    ],
    ['a page left out', wary, [full(900), 'skip'], 'continue'],
    ['the last page left out', wary, [full(150), 'skip'], 'complete'],
    ['a page left out of a list without a total', wary, [full(null), 'skip'], 'continue'],
    ['three pages left out in a row', wary, [full(900), 'skip', 'skip', 'skip'], 'broken'],
    ['pages left out here and there', wary, [full(9000), 'skip', full(9000), 'skip', full(9000)], 'continue'],
    [
      'too many pages left out',
      wary,
      Array.from({ length: 6 }, () => [full(9000), 'skip'] as const).flat(),
      'broken',
    ],
  ])('after %s (%j) is decided', (_title, trust, pages, step) => {
    expect(nextStep(tell(trust, pages))).toBe(step);
  });

  it('ends a list that never ends', () => {
    const endless = { ...tell(wary, [full(null)]), pages: 100_000 };
    expect(nextStep(endless)).toBe('broken');
  });

  it.each<[string, number, Exclude<Told, 'skip'>, number, ScanStep]>([
    [
      'of more than ten million filings is read to its end',
      12_000_000,
      full(12_000_000),
      11_999_800,
      'continue',
    ],
    ['with pages cut to twenty likewise', 12_000_000, clamped(20, 12_000_000, 100), 11_999_800, 'continue'],
    ['that grows as fast as it is read ends', 5_000, full(10_000_100), 10_000_000, 'broken'],
    ['that has twice its first total ends', 6_000_000, full(13_000_000), 12_000_000, 'broken'],
    ['with a first total beyond belief ends', 1e15, full(1e15), 50_000_000, 'broken'],
  ])('a list %s', (_title, firstTotal, page, rows, step) => {
    const before = tell(wary, [
      { ...page, total: firstTotal },
      { ...page, total: firstTotal },
    ]);
    const pages = rows / before.fullLength;
    expect(nextStep({ ...before, offset: rows, rows, pages, total: page.total })).toBe(step);
  });
});

describe('paging', () => {
  it('advances by what pages held and skips by what a page holds', () => {
    expect(tell(wary, [clamped(20, 90, 100)]).offset).toBe(20);
    expect(tell(wary, [clamped(20, 90, 100), 'skip']).offset).toBe(40);
    expect(tell(wary, [clamped(20, 90, 100), clamped(20, 90, 100), 'skip']).offset).toBe(60);
    expect(tell(wary, [{ length: 0, total: 5 }, 'skip']).offset).toBe(1);
  });

  it('learns the size of a full page from the service, told or shown', () => {
    expect(tell(wary, [clamped(20, 90)]).fullLength).toBe(20);
    expect(tell(wary, [clamped(20, 90, 100)]).fullLength).toBe(100);
    expect(tell(wary, [clamped(20, 90, 100), clamped(20, 90, 100)]).fullLength).toBe(20);
    expect(tell(wary, [clamped(20, 90, 5000), clamped(50, 90, 100), clamped(10, 90, 100)]).fullLength).toBe(
      50,
    );
    expect(tell(wary, [clamped(20, 90, null)]).fullLength).toBe(100);
  });
});

describe('isSteady', () => {
  it.each<[string, readonly Told[], boolean]>([
    ['a list read as a whole', [full(150), { length: 50, total: 150 }], true],
    ['a list whose total moved', [full(149), { length: 50, total: 150 }], false],
    ['a list with repeated rows', [full(150), { length: 50, fresh: 49, total: 150 }], false],
    ['a list with a page left out', [full(150), 'skip'], false],
    ['a list without a total', [{ length: 50, total: null }], false],
    ['a list shorter than its total', [full(150), { length: 0, total: 150 }], false],
  ])('%s: %j', (_title, pages, expected) => {
    expect(isSteady(tell(wary, pages))).toBe(expected);
  });
});

describe('reliableTotal', () => {
  it.each<[string, readonly Told[], number | null]>([
    ['the total', [full(150), { length: 50, total: 150 }], 150],
    ['the highest of several', [full(150), { length: 50, total: 151 }, { length: 0, total: 149 }], 151],
    ['none when more was served', [full(50)], null],
    ['none when none was told', [{ length: 5, total: null }], null],
  ])('is %s', (_title, pages, expected) => {
    expect(reliableTotal(tell(wary, pages))).toBe(expected);
  });
});
