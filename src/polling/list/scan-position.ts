import { pageSize, type PartnerPage } from '../../partner/filing-schema.ts';
import { isNewestFirst } from './newest-first.ts';

/**
 * How far a list's `total` is believed as its end. A total that is too low must not hide the filings that
 * follow; looking behind it costs a request.
 */
export interface TotalTrust {
  /** Lower totals are believed only where the list itself shows its end. Infinity: no total is believed. */
  readonly atLeast: number;
  /**
   * Whether the total is believed after a last page that is full. `newest_first`: only where the list stood
   * still and that page shows its filings newest first, so that no filing newer than the baseline can follow.
   */
  readonly afterFullPage: 'never' | 'newest_first' | 'always';
}

/** The progress of paging through a list, from which `nextStep` decides. */
export interface ScanPosition {
  readonly offset: number;
  /** Filings served, repeated ones and quarantined records included. */
  readonly rows: number;
  readonly pages: number;
  /** Number of pages left out because they could not be read or were empty before the list's end. */
  readonly skipped: number;
  readonly skippedInARow: number;
  /** Non-empty pages in a row on which every id had been seen before. */
  readonly repeatedPages: number;
  /** Ids seen for the first time in this scan. */
  readonly distinct: number;
  readonly firstLength: number;
  readonly lastLength: number;
  /**
   * Length of a full page as far as it is known. The service may lower the limit, with or without stating it.
   */
  readonly fullLength: number;
  /** The last total the service gave; null when it gave none. */
  readonly total: number | null;
  /** The total on the first page; null when it gave none there. */
  readonly firstTotal: number | null;
  /** The highest total that the service gave. */
  readonly totalMax: number | null;
  /** The lowest total that the service gave with a page that was not empty. */
  readonly totalMin: number | null;
  /** True once two pages gave different totals. */
  readonly totalMoved: boolean;
  /** True when the last page shows its filings newest first. Set only where that decides about the end. */
  readonly newestFirst: boolean;
  readonly trust: TotalTrust;
}

/** How a scan ended. Absence from the list has a meaning only after `complete`. */
export type ScanEnd =
  | 'complete'
  /** The list ends before its total, and repeated requests confirm it. */
  | 'short'
  /** Pages are missing, repeat themselves or never end. */
  | 'broken';

/**
 * The next step after a page. `early`: the page is empty although the total is not reached, so the scan looks
 * behind it.
 */
export type ScanStep = ScanEnd | 'continue' | 'early';

const repeatedPagesMax = 3;
const skippedInARowMax = 3;
const skippedMax = 5;
const skippedShareMax = 0.02;
// Maximum number of pages, and of rows, of a list without a total, or with one that grows as fast as it is
// read. A list whose first page gives more may have twice as many, as far as that is believed: its ids are
// kept in memory while it is read.
const pagesMax = 100_000;
const rowsMax = pagesMax * pageSize;
const believedMax = 25_000_000;

/** The position before the first page. */
export function startPosition(trust: TotalTrust): ScanPosition {
  return {
    offset: 0,
    rows: 0,
    pages: 0,
    skipped: 0,
    skippedInARow: 0,
    repeatedPages: 0,
    distinct: 0,
    firstLength: 0,
    lastLength: 0,
    fullLength: pageSize,
    total: null,
    firstTotal: null,
    totalMax: null,
    totalMin: null,
    totalMoved: false,
    newestFirst: false,
    trust,
  };
}

/**
 * The position after a page of which `fresh` ids were new to the scan; `asked` is the limit that was
 * requested.
 */
export function advance(
  position: ScanPosition,
  page: PartnerPage,
  fresh: number,
  asked: number = pageSize,
): ScanPosition {
  const { pages, total, trust } = position;
  const offset = position.offset + page.length;
  const fullLength = fullLengthAfter(position, page, asked);
  const isLookedAt =
    trust.afterFullPage === 'newest_first' && offset === page.total && page.length >= fullLength;
  return {
    ...position,
    offset,
    rows: position.rows + page.length,
    pages: pages + 1,
    skippedInARow: 0,
    repeatedPages: fresh > 0 || page.length === 0 ? 0 : position.repeatedPages + 1,
    distinct: position.distinct + fresh,
    firstLength: pages === 0 ? page.length : position.firstLength,
    lastLength: page.length,
    fullLength,
    total: page.total ?? total,
    firstTotal: pages === 0 ? page.total : position.firstTotal,
    totalMax: page.total === null ? position.totalMax : Math.max(page.total, position.totalMax ?? 0),
    totalMin:
      page.total === null || page.length === 0
        ? position.totalMin
        : Math.min(page.total, position.totalMin ?? Infinity),
    totalMoved: position.totalMoved || (total !== null && page.total !== null && page.total !== total),
    newestFirst: isLookedAt && isNewestFirst(page),
  };
}

// A page that was asked for with a lower limit is not short for that.
function fullLengthAfter({ pages, fullLength, lastLength }: ScanPosition, page: PartnerPage, asked: number) {
  if (pages === 0) return Math.min(page.limit ?? asked, asked);
  const shown = pages === 1 ? lastLength : Math.max(fullLength, lastLength);
  return asked < pageSize ? Math.min(shown, asked) : shown;
}

/**
 * The position after a page that is left out. The next one begins where a full page would have ended, or
 * behind the `rows` that were requested.
 */
export function skipPage(position: ScanPosition, rows: number | null = null): ScanPosition {
  const length = rows ?? (position.pages > 1 ? position.fullLength : position.firstLength);
  return {
    ...position,
    offset: position.offset + Math.max(1, length),
    skipped: position.skipped + 1,
    skippedInARow: position.skippedInARow + 1,
  };
}

/**
 * Offset of the page after the next one if the list does not change; null where the list may end before it.
 */
export function likelyNextOffset({
  offset,
  pages,
  lastLength,
  total,
  skippedInARow,
}: ScanPosition): number | null {
  if (pages === 0 || skippedInARow > 0 || total === null) return null;
  return lastLength > 0 && offset + lastLength < total ? offset + lastLength : null;
}

/** Whether and how to read on. The end is never a short page alone. */
export function nextStep(position: ScanPosition): ScanStep {
  const { offset, pages, total, skippedInARow, skipped } = position;
  if (skippedInARow >= skippedInARowMax || skipped > skippedMax + pages * skippedShareMax) return 'broken';
  if (isEndless(position)) return 'broken';
  if (skippedInARow > 0) return total !== null && offset >= total ? 'complete' : 'continue';
  if (position.lastLength === 0) return total === null || offset >= total ? 'complete' : 'early';
  if (position.repeatedPages >= repeatedPagesMax) return repeatedEnd(position);
  if (total === null || offset < total || offset > total) return 'continue';
  return isTotalBelieved(position, total) ? 'complete' : 'continue';
}

function isEndless({ pages, rows, firstTotal, fullLength }: ScanPosition): boolean {
  const told = 2 * Math.min(firstTotal ?? 0, believedMax);
  return pages >= Math.max(pagesMax, told / Math.max(1, fullLength)) || rows >= Math.max(rowsMax, told);
}

// Some services answer an offset behind the end with their last page. A service that ignores offsets
// altogether repeats its first page.
function repeatedEnd({ distinct, firstLength }: ScanPosition): ScanEnd {
  return distinct > firstLength ? 'short' : 'broken';
}

// The service's rule for the last page is `offset + limit >= total` (docs/partner.md#lists). A total may be
// wrong, so the list has to confirm it: by a page that is short (shorter than an earlier one, if the total is
// below the known number), or full and newest first.
function isTotalBelieved(position: ScanPosition, total: number): boolean {
  const { pages, lastLength, fullLength, newestFirst, trust } = position;
  const isShort = lastLength < fullLength;
  if (total < trust.atLeast) return trust.atLeast < Infinity && isShort && pages > 1;
  if (isShort || trust.afterFullPage === 'always') return true;
  return newestFirst && isSteady(position);
}

/**
 * Whether the list provably stood still while it was read, and was read as a whole. If so, a filing that was
 * not on it did not exist.
 */
export function isSteady(position: ScanPosition): boolean {
  const { rows, distinct, total, totalMoved, skipped } = position;
  return skipped === 0 && !totalMoved && rows === total && distinct === rows;
}

/**
 * The service's count of the list, the highest of several. Null when none is reliable: the service gave none,
 * or served more filings than it counts.
 */
export function reliableTotal({ totalMax, rows }: ScanPosition): number | null {
  return totalMax !== null && rows <= totalMax ? totalMax : null;
}
