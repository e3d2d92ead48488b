import { pageSize, type PartnerPage } from '../../partner/filing-schema.ts';

/** The progress of paging through a list, from which `nextStep` decides. */
export type ScanPosition = Readonly<ReturnType<typeof startPosition>>;

/** How a scan ended. Absence from the list has a meaning only after `complete`. */
export type ScanEnd =
  | 'complete'
  /** The list ends before its total, and repeated requests confirm it. */
  | 'short'
  /** The service answers up to an offset, and for nothing behind it. */
  | 'cut'
  /** Pages are missing, repeat themselves or never end. */
  | 'broken';

/**
 * The next step after a page. `early`: the page is empty although the total is not reached, so the scan looks
 * behind it.
 */
export type ScanStep = ScanEnd | 'continue' | 'early';

const repeatedPagesMax = 3;
const skippedMax = 5;
const skippedShareMax = 0.02;
// Maximum number of pages, and of rows, of a list beyond the total on its first page, or of one without a
// total. The ids of a list are kept in memory while it is read, and its filings in Redis.
const pagesMax = 10_000;
const rowsMax = pagesMax * pageSize;
// Maximum total that is believed; a list with a higher one is read like one without.
const believedMax = 25_000_000;

/** The position before the first page. */
export function startPosition() {
  return {
    offset: 0,
    /** Filings served, repeated ones and quarantined records included. */
    rows: 0,
    pages: 0,
    /** Number of pages left out because they could not be read or were empty before the list's end. */
    skipped: 0,
    /** Number of records left out because they could not be read, even alone. */
    leftOut: 0,
    /** Non-empty pages in a row on which every id had been seen before. */
    repeatedPages: 0,
    /** Ids seen for the first time in this scan. */
    distinct: 0,
    firstLength: 0,
    lastLength: 0,
    /** Length of a full page as far as it is known: the service may lower the limit without stating it. */
    fullLength: pageSize,
    /** The last total that the service gave, or null if it gave none. */
    total: null as number | null,
    /** The total on the first page, or null if it gave none there. */
    firstTotal: null as number | null,
    /** The highest total that the service gave. */
    totalMax: null as number | null,
    /** The lowest total that the service gave with a page that was not empty. */
    totalMin: null as number | null,
    /** True once two pages gave different totals. */
    totalMoved: false,
  };
}

/** The position after a page of which `fresh` ids were new to the scan. */
export function advance(position: ScanPosition, page: PartnerPage, fresh: number): ScanPosition {
  const { pages, total } = position;
  return {
    ...position,
    offset: position.offset + page.length,
    rows: position.rows + page.length,
    pages: pages + 1,
    repeatedPages: fresh > 0 || page.length === 0 ? 0 : position.repeatedPages + 1,
    distinct: position.distinct + fresh,
    firstLength: pages === 0 ? page.length : position.firstLength,
    lastLength: page.length,
    fullLength: fullLengthAfter(position, page),
    total: page.total ?? total,
    firstTotal: pages === 0 ? page.total : position.firstTotal,
    totalMax: page.total === null ? position.totalMax : Math.max(page.total, position.totalMax ?? 0),
    totalMin:
      page.total === null || page.length === 0
        ? position.totalMin
        : Math.min(page.total, position.totalMin ?? Infinity),
    totalMoved: position.totalMoved || (total !== null && page.total !== null && page.total !== total),
  };
}

function fullLengthAfter({ pages, fullLength, lastLength }: ScanPosition, page: PartnerPage): number {
  if (pages === 0) return Math.min(page.limit ?? pageSize, pageSize);
  return pages === 1 ? lastLength : Math.max(fullLength, lastLength);
}

/** The position after a page that is left out. The next page begins where a full one would have ended. */
export function skipPage(position: ScanPosition): ScanPosition {
  const length = Math.max(1, position.pages > 1 ? position.fullLength : position.firstLength);
  return {
    ...position,
    offset: position.offset + length,
    lastLength: length,
    skipped: position.skipped + 1,
  };
}

/** The position behind a single record that is left out. */
export function skipRecord(position: ScanPosition): ScanPosition {
  return { ...position, offset: position.offset + 1, lastLength: 1, leftOut: position.leftOut + 1 };
}

/** The position before the first page once the list's total is known from another request. */
export function expectTotal(position: ScanPosition, total: number | null): ScanPosition {
  return { ...position, total, totalMax: total, totalMin: total };
}

/**
 * Whether and how to read on. The service's rule for the last page is `offset + limit >= total`
 * (docs/partner.md#lists), so nothing is requested at or behind the total. A list that has shown more than
 * its total, or has none, goes on until a page is empty.
 */
export function nextStep(position: ScanPosition): ScanStep {
  const { offset, rows, pages, total, skipped } = position;
  if (skipped > skippedMax + pages * skippedShareMax || isEndless(position)) return 'broken';
  const isBefore = total === null || offset < total;
  if (position.lastLength === 0) return total !== null && isBefore ? 'early' : 'complete';
  if (position.repeatedPages >= repeatedPagesMax) return repeatedEnd(position);
  return isBefore || rows > total ? 'continue' : 'complete';
}

/**
 * Whether a list may end at the offset that the service refuses: at or after its total or, if it gives none,
 * after a page that was not full.
 */
export function mayEndHere({ offset, total, lastLength, fullLength }: ScanPosition): boolean {
  if (offset === 0) return false;
  return total === null ? lastLength < fullLength : offset >= total;
}

function isEndless({ pages, rows, firstTotal, fullLength }: ScanPosition): boolean {
  const told = firstTotal !== null && firstTotal <= believedMax ? firstTotal : 0;
  return pages >= pagesMax + told / Math.max(1, fullLength) || rows >= rowsMax + told;
}

// Some services answer an offset behind the end with their last page. A service that ignores offsets
// altogether repeats its first page.
function repeatedEnd({ distinct, firstLength }: ScanPosition): ScanEnd {
  return distinct > firstLength ? 'short' : 'broken';
}

/**
 * Whether the list provably stood still while it was read, and was read as a whole. If so, a filing that was
 * not on it did not exist.
 */
export function isSteady(position: ScanPosition): boolean {
  const { rows, distinct, total, totalMoved } = position;
  return !totalMoved && rows === total && distinct === rows;
}

/**
 * The service's count of the list, the highest of several. Null when none is reliable: the service gave none,
 * or served more filings than it counts.
 */
export function reliableTotal({ totalMax, rows }: ScanPosition): number | null {
  return totalMax !== null && rows <= totalMax ? totalMax : null;
}
