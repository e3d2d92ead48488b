import { describe, expect, it } from 'vitest';
import type { PartnerPage } from '../../../../src/partner/filing-schema.ts';
import {
  advance,
  isSteady,
  mayEndHere,
  nextStep,
  reliableTotal,
  skipPage,
  startPosition,
  type ScanPosition,
  type ScanStep,
} from '../../../../src/polling/list/scan-position.ts';

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
    }
  | 'skip';

function tell(pages: readonly Told[]): ScanPosition {
  let position = startPosition();
  for (const told of pages)
    position =
      told === 'skip' ? skipPage(position) : advance(position, pageOf(told), told.fresh ?? told.length);
  return position;
}

function pageOf({ length, total, limit = 100 }: Exclude<Told, 'skip'>): PartnerPage {
  return { filings: [], quarantined: [], unreadable: 0, length, total, limit };
}

const full = (total: number | null) => ({ length: 100, total });
const clamped = (length: number, total: number | null, limit: number | null = length) => ({
  length,
  total,
  limit,
});
const repeated = (total: number | null) => ({ length: 100, fresh: 0, total });

describe('nextStep', () => {
  it.each<[string, readonly Told[], string]>([
    ['an empty list', [{ length: 0, total: 0 }], 'complete'],
    ['an empty list without a total', [{ length: 0, total: null }], 'complete'],
    ['all filings on one short page', [{ length: 3, total: 3 }], 'complete'],
    ['more to come', [full(250)], 'continue'],
    ['a short page within the list', [clamped(20, 250, 100)], 'continue'],
    ['the last, short page', [full(250), full(250), { length: 50, total: 250 }], 'complete'],
    ['exactly the total on full pages', [full(200), full(200)], 'complete'],
    ['a clamp that is told', [clamped(20, 40), clamped(20, 40)], 'complete'],
    ['a clamp that is not told', [clamped(20, 40, 100), clamped(20, 40, 100)], 'complete'],
    ['exactly a total that has fallen', [full(201), full(200)], 'complete'],
    ['exactly a total that has grown', [full(199), full(200)], 'complete'],
    ['a total that grows out of reach', [full(200), full(201)], 'continue'],
    ['a total that falls below the offset, then nothing', [full(250), { length: 0, total: 90 }], 'complete'],
    ['more served than counted', [full(50)], 'continue'],
    ['more served than counted on a short page', [full(50), { length: 30, total: 50 }], 'continue'],
    ['more served than counted, then nothing', [full(50), { length: 0, total: 50 }], 'complete'],
    ['a total of 0 beside filings', [full(0)], 'continue'],
    ['a total that is missing', [{ length: 30, total: null }], 'continue'],
    ['a total that is missing later', [full(130), { length: 30, total: null }], 'complete'],
    ['an empty page before the total', [full(250), { length: 0, total: 250 }], 'early'],
    ['the first page for ever', [full(900), repeated(900), repeated(900), repeated(900)], 'broken'],
    ['the first page twice', [full(900), repeated(900), repeated(900)], 'continue'],
    ['the last page for ever', [full(900), full(900), repeated(900), repeated(900), repeated(900)], 'short'],
    ['a page left out', [full(900), 'skip'], 'continue'],
    ['the last page left out', [full(150), 'skip'], 'complete'],
    ['a page left out of a list without a total', [full(null), 'skip'], 'continue'],
    ['pages left out here and there', [full(9000), 'skip', full(9000), 'skip', full(9000)], 'continue'],
    [
      'too many pages left out',

      Array.from({ length: 6 }, () => [full(9000), 'skip'] as const).flat(),
      'broken',
    ],
  ])('after %s (%j) is decided', (_title, pages, step) => {
    expect(nextStep(tell(pages))).toBe(step);
  });

  it('ends a list that never ends', () => {
    const endless = { ...tell([full(null)]), pages: 10_000 };
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
    ['that grows while it is read is read to its end', 6_000_000, full(6_900_000), 6_800_000, 'continue'],
    ['that grows as fast as it is read ends', 5_000, full(1_010_000), 1_005_000, 'broken'],
    ['that has a million more than its first total ends', 6_000_000, full(7_500_000), 7_000_000, 'broken'],
    ['with a first total beyond belief ends', 1e12, full(1e12), 1_000_000, 'broken'],
  ])('a list %s', (_title, firstTotal, page, rows, step) => {
    const before = tell([
      { ...page, total: firstTotal },
      { ...page, total: firstTotal },
    ]);
    const pages = rows / before.fullLength;
    expect(nextStep({ ...before, offset: rows, rows, pages, total: page.total })).toBe(step);
  });
});

describe('a refusal', () => {
  it.each<[string, readonly Told[], boolean]>([
    ['of the first page', [], false],
    ['within the total', [full(250)], false],
    ['at the total', [full(250), full(250), { length: 50, total: 250 }], true],
    ['behind a total that was too low', [full(50)], true],
    ['behind a short page of a list without a total', [{ length: 3, total: null }], true],
    ['behind a full page of a list without a total', [full(null)], false],
  ])('%s ends the list or not: %j', (_title, pages, expected) => {
    expect(mayEndHere(tell(pages))).toBe(expected);
  });
});

describe('paging', () => {
  it('advances by what pages held and skips by what a page holds', () => {
    expect(tell([clamped(20, 90, 100)]).offset).toBe(20);
    expect(tell([clamped(20, 90, 100), 'skip']).offset).toBe(40);
    expect(tell([clamped(20, 90, 100), clamped(20, 90, 100), 'skip']).offset).toBe(60);
    expect(tell([{ length: 0, total: 5 }, 'skip']).offset).toBe(1);
  });

  it('learns the size of a full page from the service, told or shown', () => {
    expect(tell([clamped(20, 90)]).fullLength).toBe(20);
    expect(tell([clamped(20, 90, 100)]).fullLength).toBe(100);
    expect(tell([clamped(20, 90, 100), clamped(20, 90, 100)]).fullLength).toBe(20);
    expect(tell([clamped(20, 90, 5000), clamped(50, 90, 100), clamped(10, 90, 100)]).fullLength).toBe(50);
    expect(tell([clamped(20, 90, null)]).fullLength).toBe(100);
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
    expect(isSteady(tell(pages))).toBe(expected);
  });
});

describe('reliableTotal', () => {
  it.each<[string, readonly Told[], number | null]>([
    ['the total', [full(150), { length: 50, total: 150 }], 150],
    ['the highest of several', [full(150), { length: 50, total: 151 }, { length: 0, total: 149 }], 151],
    ['none when more was served', [full(50)], null],
    ['none when none was told', [{ length: 5, total: null }], null],
  ])('is %s', (_title, pages, expected) => {
    expect(reliableTotal(tell(pages))).toBe(expected);
  });
});
