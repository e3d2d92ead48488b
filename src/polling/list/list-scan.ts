import { pageSize } from '../../partner/filing-schema.ts';
import type { PageAnswer, PartnerClient } from '../../partner/partner-client.ts';
import { consequence, isRefusal, PartnerError } from '../../partner/partner-error.ts';
import type { IdPart, IdSet } from './id-set.ts';
import { createPrefetch } from './prefetch.ts';
import { splitRepeatedRows, type PageRows } from './repeated-rows.ts';
import {
  advance,
  likelyNextOffset,
  mayEndHere,
  nextStep,
  skipPage,
  startPosition,
  type ScanEnd,
  type ScanPosition,
  type ScanStep,
} from './scan-position.ts';

/** The result of paging once through a list. */
export interface ScanResult {
  /** Records that could not be read as filings, by id or digest; the first thousand. */
  readonly quarantined: ReadonlySet<string>;
  /** Number of records that could not be read as filings. */
  readonly unreadable: number;
  readonly end: ScanEnd;
  readonly position: ScanPosition;
  /** Why pages are missing; null when none are. */
  readonly failure: PartnerError | null;
}

// Maximum number of records that cannot be read of which the names are kept.
const quarantinedMax = 1_000;

/** A page, split by what the poll had shown before. */
export interface ShownPage extends PageAnswer {
  readonly rows: PageRows;
}

/** A short poll that may be due while a long read goes on. */
export interface PollInBetween {
  isDue(): boolean;
  /** Makes that poll if it is due and not under way. */
  pollIfDue(): Promise<void>;
}

export interface ScanDeps {
  readonly listing: Pick<PartnerClient, 'listFilings'>;
  /** Ids that the poll has shown; the list's are added, those of quarantined records included. */
  readonly shown: IdSet;
  readonly inBetween: PollInBetween;
  readonly signal: AbortSignal;
}

/** The part of the list to read. */
export interface ScanRequest {
  /** Undefined: the whole list. */
  readonly status?: string;
  /** True when reading the list takes long: its pages give way where accounts share a budget. */
  readonly isSweep?: boolean;
}

/** One passage through a list. */
export interface ListScan {
  /**
   * The pages, to be read once. The next pages may be requested while the reader works on earlier ones. At a
   * `barrier` the reader finishes that work before it asks for more. Throws PartnerError when not even the
   * first page can be read, or when the service refuses the account. No request outlives the generator. The
   * reader releases each page.
   */
  pages(): AsyncGenerator<ShownPage | 'barrier', void, undefined>;
  /** To be called once the pages have ended. */
  result(): ScanResult;
}

/**
 * Reads a list page by page (docs/partner.md#lists). It advances by the number of records on each page, never
 * by the requested limit. A page that cannot be read is left out and requested once more at the end.
 */
export function scanList({ listing, shown, inBetween, signal }: ScanDeps, request: ScanRequest): ListScan {
  const { status, isSweep = false } = request;
  const prefetch = createPrefetch<Answer>({ fetch, inBetween, discard });
  const quarantined = new Set<string>();
  const holes: { readonly offset: number; readonly rows: number }[] = [];
  let position = startPosition();
  let failure: PartnerError | null = null;
  let end: ScanEnd = 'broken';
  let unreadable = 0;

  async function fetch(offset: number, onArrival?: () => void): Promise<Answer> {
    try {
      const query = { offset, limit: pageSize, isSweep, ...(status === undefined ? {} : { status }) };
      return await listing.listFilings(query, signal, onArrival);
    } catch (error) {
      if (error instanceof PartnerError) return error;
      throw error;
    }
  }

  async function* pages(): ReturnType<ListScan['pages']> {
    const list = shown.part();
    try {
      yield* readOn(list);
    } finally {
      await prefetch.settled();
      list.end();
    }
  }

  async function* readOn(list: IdPart): ReturnType<ListScan['pages']> {
    for (;;) {
      const answer = await prefetch.answer();
      if (isRefusal(answer) && mayEndHere(position)) return yield* close('complete', list);
      const page = isPage(answer) ? accept(answer, list) : null;
      let step = page === null ? leaveOut(failure?.excess?.limit) : nextStep(position);
      prefetch.expect(position.offset, likelyNextOffset(position));
      const isPause = step === 'continue' && !prefetch.isRequested() && inBetween.isDue();
      if (step === 'continue' && !isPause) prefetch.request();
      if (page !== null) yield page;
      if (step !== 'continue' || isPause) yield 'barrier';
      if (isPause) await inBetween.pollIfDue();
      if (step === 'early') step = yield* lookBehind(list);
      if (step !== 'continue') return yield* close(step, list);
    }
  }

  function isPage(answer: Answer): answer is PageAnswer {
    if (!(answer instanceof PartnerError)) return true;
    // Behind one filing that is too large to be read there may be others.
    const isFirst = position.pages === 0 && (answer.excess?.limit !== 1 || position.skipped > 0);
    if (isFirst || consequence(answer, 'list') === 'poll_ends') throw answer;
    failure = answer;
    return false;
  }

  function accept(answer: PageAnswer, list: IdPart): ShownPage {
    const { page, fresh } = show(answer, list);
    position = advance(position, answer.page, fresh, answer.limit);
    return page;
  }

  function show(answer: PageAnswer, list: IdPart): { readonly page: ShownPage; readonly fresh: number } {
    let fresh = 0;
    const showId = (id: string): boolean => {
      const membership = list.add(id);
      if (membership !== 'again') fresh += 1;
      return membership === 'new';
    };
    const rows = splitRepeatedRows(answer.page.filings, showId);
    const named = fresh;
    for (const name of answer.page.quarantined) {
      showId(name);
      if (quarantined.size < quarantinedMax) quarantined.add(name);
    }
    // Those without a name count on each page that they stand on.
    unreadable += fresh - named + answer.page.unreadable - answer.page.quarantined.length;
    return { page: { ...answer, rows }, fresh };
  }

  function leaveOut(rows: number | null = null): ScanStep {
    const { offset } = position;
    position = skipPage(position, rows);
    holes.push({ offset, rows: position.offset - offset });
    return nextStep(position);
  }

  // After an empty page before the total: finds out whether the list goes on behind it.
  async function* lookBehind(list: IdPart): AsyncGenerator<ShownPage | 'barrier', ScanStep> {
    const last = (position.total ?? 0) - 1;
    if (last <= position.offset || !(yield* fill({ offset: last, rows: 1 }, list))) return 'short';
    const step = leaveOut();
    prefetch.expect(position.offset, likelyNextOffset(position));
    return step;
  }

  // Requests the left-out pages once more.
  async function* close(step: Exclude<ScanStep, 'continue'>, list: IdPart): ReturnType<ListScan['pages']> {
    let isWhole = true;
    for (const hole of holes) isWhole = (yield* fill(hole, list)) && isWhole;
    const reached = step === 'early' ? 'short' : step;
    end = isWhole ? reached : 'broken';
    if (isWhole) failure = null;
  }

  // Where the limit had to be lowered, the rows of one page take several.
  async function* fill({ offset, rows }: (typeof holes)[number], list: IdPart): Filling {
    for (let at = offset; at < offset + rows;) {
      const answer = await fetch(at);
      if (!isPage(answer)) return false;
      at += answer.page.length;
      const { page } = show(answer, list);
      yield page;
      yield 'barrier';
      if (answer.page.length === 0) return at > offset;
      if (answer.limit === pageSize) return true;
    }
    return true;
  }

  return { pages, result: () => ({ quarantined, unreadable, end, position, failure }) };
}

type Filling = AsyncGenerator<ShownPage | 'barrier', boolean>;

function discard(answer: Answer): void {
  if (!(answer instanceof PartnerError)) answer.release();
}

// Failures of the service are values here: the scan decides what they mean for the list. All others end it.
type Answer = PageAnswer | PartnerError;
