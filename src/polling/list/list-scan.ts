import type { PartnerClient } from '../../partner/partner-client.ts';
import { isRefusal, PartnerError } from '../../partner/partner-error.ts';
import { createListRequests, discard, type Answer } from './list-requests.ts';
import type { IdSet } from './id-set.ts';
import { createPageParts } from './page-parts.ts';
import type { ShownPage } from './repeated-rows.ts';
import { mayEndHere, nextStep, type ScanEnd, type ScanStep } from './scan-position.ts';
import { createScanProgress, type ScanProgress } from './scan-progress.ts';

/** The result of paging once through a list. */
export interface ScanResult extends Readonly<Pick<ScanProgress, 'position' | 'quarantined' | 'leftOut'>> {
  /** Number of records that could not be read as filings. */
  readonly unreadable: number;
  readonly end: ScanEnd;
  /** Why pages are missing, or null if none are. */
  readonly failure: PartnerError | null;
}

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
  /** True if reading the list takes long: its pages give way if accounts share a budget. */
  readonly isSweep?: boolean;
}

/**
 * Reads a list page by page (docs/partner.md#lists). It advances by the number of records on each page, never
 * by the requested limit. A page that cannot be read is read in halves, down to the records in the way.
 */
export function scanList({ listing, shown, part, signal }: ScanDeps, request: ScanRequest) {
  const { status, isSweep = false } = request;
  const list = status === undefined ? { isSweep } : { isSweep, status };
  const requests = createListRequests(listing, list, signal);
  const progress = createScanProgress(shown, part);
  const parts = createPageParts(requests, progress);
  let failure: PartnerError | null = null;
  let end: ScanEnd = 'broken';
  // The next page, requested while the one before it is compared.
  let ahead: Promise<Answer> | null = null;

  async function* pages(): AsyncGenerator<ShownPage, void, undefined> {
    try {
      yield* readOn();
    } finally {
      await ahead?.then(discard, () => undefined);
    }
  }

  async function* readOn(): AsyncGenerator<ShownPage, void, undefined> {
    for (;;) {
      const answer = await (ahead ?? requests.page(progress.position.offset));
      ahead = null;
      const page = answer instanceof PartnerError ? null : progress.accept(answer);
      let step = answer instanceof PartnerError ? yield* goOn(answer) : nextStep(progress.position);
      if (step === 'early' && (await isLastShown())) step = progress.leaveOutPage();
      if (step === 'continue') requestAhead();
      if (page !== null) yield page;
      if (step === 'continue') continue;
      end = progress.position.skipped > 0 ? 'broken' : step === 'early' ? 'short' : step;
      return;
    }
  }

  function requestAhead(): void {
    ahead = requests.page(progress.position.offset);
    // It is awaited only when the work on the page before has ended, which may be later.
    ahead.catch(() => undefined);
  }

  // Whether the list goes on behind a page that is empty, or cannot be read.
  async function isLastShown(): Promise<boolean> {
    const { total, offset } = progress.position;
    const last = (total ?? 0) - 1;
    if (last <= offset) return false;
    const page = await requests.look(last);
    return !(page instanceof PartnerError) && page.length > 0;
  }

  // After a page that cannot be read: reads of it what can be read, and decides how to go on.
  async function* goOn(error: PartnerError): AsyncGenerator<ShownPage, ScanStep> {
    const { offset, pages: before } = progress.position;
    if (isRefusal(error) && mayEndHere(progress.position)) return 'complete';
    // The list of a status is refused as a whole.
    if (offset === 0 && isRefusal(error) && status !== undefined) throw error;
    if (parts.isAffordable() && (await parts.isServed(error))) {
      yield* parts.read(error);
      const { position } = progress;
      if (position.offset > offset || position.pages > before) return nextStep(position);
    }
    if (offset === 0) throw error;
    return stepBehind(error);
  }

  // After a page within the total of which the service shows nothing.
  async function stepBehind(error: PartnerError): Promise<ScanStep> {
    failure = error;
    const start = await requests.look(progress.readableOffset());
    if (start instanceof PartnerError) return 'broken';
    progress.position = { ...progress.position, total: start.total };
    if (await isLastShown()) return progress.leaveOutPage();
    // The list may have become shorter.
    const { total, offset } = progress.position;
    if (total === null || total > offset) return 'cut';
    failure = null;
    return 'complete';
  }

  return {
    /**
     * The pages, to be read once. The next page is requested while the reader works on earlier ones, never
     * two at once: pages served out of order would hide rows that move from one to the other. Throws
     * PartnerError when not even the first page can be read, or when the service refuses the account. No
     * request outlives the generator. The reader releases each page.
     */
    pages,
    /** To be called once the pages have ended. */
    result(): ScanResult {
      const { position, quarantined, leftOut } = progress;
      return { position, quarantined, leftOut, unreadable: progress.unreadable(), end, failure };
    },
  };
}
