import { pageSize, type PartnerPage } from '../../partner/filing-schema.ts';
import type { PageAnswer, PartnerClient } from '../../partner/partner-client.ts';
import { isRefusal, PartnerError } from '../../partner/partner-error.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import type { LeftOutRecord } from './gaps.ts';
import { createListRequests, discard, type Answer } from './list-requests.ts';
import type { IdSet } from './id-set.ts';
import { splitRepeatedRows, type ShownPage } from './repeated-rows.ts';
import {
  advance,
  expectTotal,
  mayEndHere,
  nextStep,
  skipPage,
  skipRecord,
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
  /** Records that the service could not write, not even alone. */
  readonly leftOut: readonly LeftOutRecord[];
  readonly end: ScanEnd;
  readonly position: ScanPosition;
  /** Why pages are missing; null when none are. */
  readonly failure: PartnerError | null;
}

// Maximum number of records that cannot be read of which the names are kept.
const quarantinedMax = 1_000;
// Rows of a page that are requested alone when it cannot be read. They are spread, so that it takes chance
// for all of them to be in the way.
const samples = [0, 34, 67];
// Maximum number of records in a row that are left out before the service is asked whether it serves others.
const inARowMax = 10;
// Maximum number of requests for parts of pages, beside one for each page that was read.
const partsMax = 200;

export interface ScanDeps {
  readonly listing: Pick<PartnerClient, 'listFilings'>;
  /** Ids that the poll has shown; the list's are added, those of quarantined records included. */
  readonly shown: IdSet;
  /** Number of the scan among those of the poll, from 1 on. */
  readonly part: number;
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
   * The pages, to be read once. The next page is requested while the reader works on earlier ones, never two
   * at once: pages served out of order would hide rows that move from one to the other.
   * Throws PartnerError when not even the first page can be read, or when the service refuses the account. No
   * request outlives the generator. The reader releases each page.
   */
  pages(): AsyncGenerator<ShownPage, void, undefined>;
  /** To be called once the pages have ended. */
  result(): ScanResult;
}

/**
 * Reads a list page by page (docs/partner.md#lists). It advances by the number of records on each page, never
 * by the requested limit. A page that cannot be read is read in halves, down to the records in the way.
 */
export function scanList({ listing, shown, part, signal }: ScanDeps, request: ScanRequest): ListScan {
  const { status, isSweep = false } = request;
  const list = status === undefined ? { isSweep } : { isSweep, status };
  const requests = createListRequests(listing, list, signal);
  const quarantined = new Set<string>();
  const leftOut: LeftOutRecord[] = [];
  let position = startPosition();
  let failure: PartnerError | null = null;
  let end: ScanEnd = 'broken';
  let unreadable = 0;
  // The next page, requested while the one before it is compared.
  let ahead: Promise<Answer> | null = null;

  async function* pages(): ReturnType<ListScan['pages']> {
    try {
      yield* readOn();
    } finally {
      await ahead?.then(discard, () => undefined);
    }
  }

  async function* readOn(): ReturnType<ListScan['pages']> {
    for (;;) {
      const answer = await (ahead ?? requests.page(position.offset));
      ahead = null;
      const page = answer instanceof PartnerError ? null : accept(answer);
      let step = answer instanceof PartnerError ? yield* goOn(answer) : nextStep(position);
      if (step === 'early' && (await isLastShown())) step = leaveOutPage();
      if (step === 'continue') requestAhead();
      if (page !== null) yield page;
      if (step === 'continue') continue;
      end = position.skipped > 0 ? 'broken' : step === 'early' ? 'short' : step;
      return;
    }
  }

  function requestAhead(): void {
    ahead = requests.page(position.offset);
    // It is awaited only when the work on the page before has ended, which may be later.
    ahead.catch(() => undefined);
  }

  function accept(answer: PageAnswer): ShownPage {
    let fresh = 0;
    const showId = (id: string): boolean => {
      const membership = shown.add(id, part);
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
    position = advance(position, answer.page, fresh);
    return { ...answer, rows };
  }

  function leaveOutPage(): ScanStep {
    position = skipPage(position);
    return nextStep(position);
  }

  // Whether the list goes on behind a page that is empty, or cannot be read.
  async function isLastShown(): Promise<boolean> {
    const last = (position.total ?? 0) - 1;
    if (last <= position.offset) return false;
    const page = await requests.look(last);
    return !(page instanceof PartnerError) && page.length > 0;
  }

  // After a page that cannot be read: reads of it what can be read, and decides how to go on.
  async function* goOn(error: PartnerError): AsyncGenerator<ShownPage, ScanStep> {
    if (isRefusal(error) && mayEndHere(position)) return 'complete';
    const isFirst = position.offset === 0;
    // The list of a status is refused as a whole.
    if (isFirst && isRefusal(error) && status !== undefined) throw error;
    const { offset, pages: before } = position;
    if (mayAskForParts() && (await isServed(error))) {
      yield* readInParts(error);
      if (position.offset > offset || position.pages > before) return nextStep(position);
    }
    if (isFirst) throw error;
    return stepBehind(error);
  }

  // After a page within the total of which the service shows nothing.
  async function stepBehind(error: PartnerError): Promise<ScanStep> {
    failure = error;
    const start = await requests.look(readable());
    if (start instanceof PartnerError) return 'broken';
    position = { ...position, total: start.total };
    if (await isLastShown()) return leaveOutPage();
    // The list may have become shorter.
    if (position.total === null || position.total > position.offset) return 'cut';
    failure = null;
    return 'complete';
  }

  // Whether the service answers for some records of a page that it has failed to serve as a whole. If it does
  // not, it is the service that fails.
  async function isServed(error: PartnerError): Promise<boolean> {
    const { offset, pages: before, total } = position;
    const within = samples.map((rows) => offset + rows).filter((at) => total === null || at < total);
    // A short last page has too few to tell.
    const isShort = within.length < samples.length && !isRefusal(error);
    const offsets = isShort ? [...within, readable()] : within;
    const looks = await allEnded(offsets.map((at) => requests.look(at)));
    const seen = looks.filter((look): look is PartnerPage => !(look instanceof PartnerError));
    if (seen[0] !== undefined && before === 0) position = expectTotal(position, seen[0].total);
    // Records that are no filings show that another service answers.
    if (seen.some((look) => look.unreadable > 0)) return seen.some(({ filings }) => filings.length > 0);
    // A service may refuse what is behind the end.
    return seen.length > 0 || (offset === 0 && !isRefusal(error) && looks.some(isRefusal));
  }

  function mayAskForParts(): boolean {
    return requests.parts() <= partsMax + position.rows / pageSize;
  }

  // Offset of a record that can be read, if any can.
  function readable(): number {
    let at = 0;
    while (leftOut.some(({ offset }) => offset === at)) at += 1;
    return at;
  }

  // Reads a page in halves, down to the records in the way. Stops where many in a row are.
  async function* readInParts(error: PartnerError): AsyncGenerator<ShownPage, void> {
    const from = position.offset;
    const to = from + (error.excess?.limit === 1 ? 1 : pageSize);
    const bounds = [Math.min(to, position.total ?? to)];
    if (position.total !== null && position.total <= from) return;
    let answer: Answer = error;
    let inARow = 0;
    for (;;) {
      const rows = (bounds.at(-1) ?? 0) - position.offset;
      if (!(answer instanceof PartnerError)) {
        inARow = 0;
        yield accept(answer);
      } else if (rows > 1) {
        bounds.push(position.offset + Math.ceil(rows / 2));
      } else {
        if (isRefusal(answer) && position.offset > from) return;
        inARow += 1;
        leaveOut(answer);
      }
      while (position.offset >= (bounds.at(-1) ?? Infinity)) bounds.pop();
      const bound = bounds.at(-1);
      if (bound === undefined || inARow >= inARowMax || !mayAskForParts()) return;
      if (position.pages > 0 && nextStep(position) !== 'continue') return;
      answer = await requests.part(position.offset, bound - position.offset);
    }
  }

  function leaveOut(error: PartnerError): void {
    leftOut.push({ offset: position.offset, error });
    position = skipRecord(position);
  }

  return { pages, result: () => ({ quarantined, unreadable, leftOut, end, position, failure }) };
}
