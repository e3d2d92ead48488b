import type { ListQuery, ReadWindow } from '../partner/partner-client.ts';
import type { PartnerPage } from '../partner/filing-schema.ts';

/** What paging through one list has seen. */
export interface ScanResult {
  readonly seen: ReadonlySet<string>;
  /** False when the list ended early, repeated itself or was endless: then absence says nothing. */
  readonly complete: boolean;
  /** The last total the service gave; null when it gave none. */
  readonly total: number | null;
  readonly quarantined: number;
}

export interface ScanDeps {
  readonly fetchPage: (query: ListQuery) => Promise<{ page: PartnerPage; window: ReadWindow }>;
  /** Called with each page before the next is asked for. */
  readonly onPage: (page: PartnerPage, window: ReadWindow) => Promise<void>;
}

const pageSize = 100;
const repeatedPagesMax = 3;
// Bounds a list without a total, or with one that grows as fast as it is read.
const pagesMax = 20_000;

/** How far a scan has got; what `nextStep` decides from. */
export interface ScanProgress {
  readonly offset: number;
  readonly pages: number;
  /** Non-empty pages in a row on which every id had been seen before. */
  readonly repeatedPages: number;
  readonly lastLength: number;
  /** What a full page holds, as far as the service lets see: it may clamp the limit and say so, or not. */
  readonly fullLength: number;
  readonly total: number | null;
}

/**
 * Whether to read on; pure. The end is where `offset >= total` and the page was not a full one (a total that is too
 * low must not hide what follows), or an empty page. An empty page before the total, pages that only repeat and lists
 * beyond the budget end an incomplete scan.
 */
export function nextStep(progress: ScanProgress): 'continue' | 'complete' | 'incomplete' {
  const { offset, total, lastLength, fullLength } = progress;
  if (lastLength === 0) return total === null || offset >= total ? 'complete' : 'incomplete';
  if (progress.repeatedPages >= repeatedPagesMax) return 'incomplete';
  if (total !== null && offset >= total && lastLength < fullLength) return 'complete';
  return progress.pages >= pagesMax ? 'incomplete' : 'continue';
}

/**
 * Reads a list page by page (partner specification, `GET /partner/filings`), advancing by what each page held and
 * never by the limit asked for. Rejects when a page cannot be had.
 */
export async function scanList(deps: ScanDeps, status?: string): Promise<ScanResult> {
  const seen = new Set<string>();
  let quarantined = 0;
  let progress: ScanProgress = {
    offset: 0,
    pages: 0,
    repeatedPages: 0,
    lastLength: 0,
    fullLength: 0,
    total: null,
  };
  for (;;) {
    const query = { offset: progress.offset, limit: pageSize, ...(status === undefined ? {} : { status }) };
    const { page, window } = await deps.fetchPage(query);
    await deps.onPage(page, window);
    const known = seen.size;
    for (const { id } of page.filings) seen.add(id);
    quarantined += page.quarantined;
    progress = advance(progress, page, seen.size > known);
    const step = nextStep(progress);
    if (step !== 'continue')
      return { seen, complete: step === 'complete', total: progress.total, quarantined };
  }
}

function advance(progress: ScanProgress, page: PartnerPage, somethingNew: boolean): ScanProgress {
  const clamped = page.limit === null ? pageSize : Math.min(page.limit, pageSize);
  return {
    offset: progress.offset + page.length,
    pages: progress.pages + 1,
    repeatedPages: somethingNew || page.length === 0 ? 0 : progress.repeatedPages + 1,
    lastLength: page.length,
    fullLength: Math.max(progress.pages === 0 ? clamped : progress.fullLength, page.length),
    total: page.total ?? progress.total,
  };
}
