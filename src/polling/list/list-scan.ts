import type { ListQuery, PageAnswer } from '../../partner/partner-client.ts';
import { consequence, PartnerError } from '../../partner/partner-error.ts';
import type { IdPart, IdSet } from './id-set.ts';
import { createPageWork } from './page-work.ts';
import { createPagesAhead } from './prefetch.ts';
import {
  advance,
  likelyNext,
  nextStep,
  skipPage,
  startOfScan,
  type ScanEnd,
  type ScanProgress,
  type ScanStep,
  type TotalTrust,
} from './scan-progress.ts';
import { splitSights, type Sights } from './repeated-rows.ts';

/** What paging once through a list has seen. */
export interface ScanResult {
  /** Records that could not be read as filings, by id or digest. */
  readonly quarantined: ReadonlySet<string>;
  readonly end: ScanEnd;
  readonly progress: ScanProgress;
  /** Why pages are missing; null when none are. */
  readonly failure: PartnerError | null;
}

/** A page with what of it the poll had shown before. */
export interface SeenPage extends PageAnswer {
  readonly sights: Sights;
}

export interface ScanDeps {
  /**
   * Rejects with PartnerError and nothing else. `onArrival` is called as PartnerClient's `listFilings` does.
   */
  readonly fetchPage: (query: ListQuery, onArrival: () => void) => Promise<PageAnswer>;
  /**
   * Called with each page in order, while the work on those before may go on and the next ones be on their
   * way.
   */
  readonly onPage: (seen: SeenPage) => Promise<void>;
  /** Ids that the poll has shown; the list's are added, those of quarantined records included. */
  readonly shown: IdSet;
  /** Called between pages: something else that is due, or null. */
  readonly interlude: () => (() => Promise<void>) | null;
}

/** Which part of the list to read, and how far its `total` is believed. */
export interface ScanRequest {
  /** Undefined: the whole list. */
  readonly status?: string;
  readonly trust: TotalTrust;
}

const pageSize = 100;

/**
 * Reads a list page by page (partner specification, `GET /partner/filings`), advancing by what each page held
 * and never by the limit asked for. A page that cannot be had is left out and asked for once more at the end.
 * Rejects with PartnerError when not even the first page can be had, or when the service refuses the account,
 * and as `onPage` does. No request and no work on a page outlives it.
 */
export async function scanList(deps: ScanDeps, request: ScanRequest): Promise<ScanResult> {
  const list = deps.shown.part();
  const scan = openScan(deps, request, list);
  try {
    return await readOn(deps, scan);
  } finally {
    await Promise.all([scan.pages.settled(), scan.work.settled()]);
    list.end();
  }
}

async function readOn(deps: ScanDeps, scan: Scan): Promise<ScanResult> {
  const { pages, work } = scan;
  for (;;) {
    const noted = scan.note(await pages.take());
    pages.turn();
    let { step } = noted;
    const interlude = step === 'continue' && !pages.isAsked() ? deps.interlude() : null;
    if (step === 'continue' && interlude === null) pages.ask();
    if (noted.page !== null) await work.begin(noted.page.bytes, deps.onPage(noted.page));
    if (step !== 'continue' || interlude !== null) await work.done();
    if (interlude !== null) await interlude();
    if (step === 'early') step = await scan.lookBehind();
    if (step !== 'continue') return scan.close(step);
  }
}

// Failures are values here, so that a page asked for ahead of time cannot fail behind anybody's back.
type Answer = PageAnswer | PartnerError;

type Scan = ReturnType<typeof openScan>;

function openScan(deps: ScanDeps, { status, trust }: ScanRequest, list: IdPart) {
  const quarantined = new Set<string>();
  const holes: number[] = [];
  let progress = startOfScan(trust);
  let failure: PartnerError | null = null;

  async function fetch(offset: number, onArrival: () => void): Promise<Answer> {
    try {
      const query = { offset, limit: pageSize, ...(status === undefined ? {} : { status }) };
      return await deps.fetchPage(query, onArrival);
    } catch (error) {
      if (error instanceof PartnerError) return error;
      throw error;
    }
  }

  const pages = createPagesAhead({
    fetch,
    offset: () => progress.offset,
    likelyNext: () => (deps.interlude() === null ? likelyNext(progress) : null),
  });

  function take(fetched: PageAnswer): { readonly page: SeenPage; readonly fresh: number } {
    let fresh = 0;
    const see = (id: string): boolean => {
      const sight = list.add(id);
      if (sight !== 'again') fresh += 1;
      return sight === 'new';
    };
    const sights = splitSights(fetched.page.filings, see);
    for (const name of fetched.page.quarantined) {
      see(name);
      quarantined.add(name);
    }
    return { page: { ...fetched, sights }, fresh };
  }

  function leaveOut(): ScanStep {
    holes.push(progress.offset);
    progress = skipPage(progress);
    return nextStep(progress);
  }

  async function fill(offset: number): Promise<boolean> {
    const answer = await fetch(offset, () => undefined);
    if (answer instanceof PartnerError) failure = passing(answer, progress);
    if (answer instanceof PartnerError || answer.page.length === 0) return false;
    await deps.onPage(take(answer).page);
    return true;
  }

  return {
    pages,
    work: createPageWork(),
    /** Takes an answer into account and says what to do next; `page` null where it is none. */
    note(answer: Answer): { readonly step: ScanStep; readonly page: SeenPage | null } {
      if (answer instanceof PartnerError) {
        failure = passing(answer, progress);
        return { step: leaveOut(), page: null };
      }
      const { page, fresh } = take(answer);
      progress = advance(progress, answer.page, fresh);
      return { step: nextStep(progress), page };
    },
    /** After an empty page before the total: whether the list goes on behind it. */
    lookBehind: async (): Promise<ScanStep> =>
      (await fill(Math.max(progress.offset + 1, (progress.total ?? 0) - 1))) ? leaveOut() : 'short',
    /** Asks for what was left out once more. */
    async close(end: Exclude<ScanStep, 'continue'>): Promise<ScanResult> {
      let whole = true;
      for (const offset of holes) whole = (await fill(offset)) && whole;
      const reached = end === 'early' ? 'short' : end;
      return {
        quarantined,
        end: whole ? reached : 'broken',
        progress,
        failure: whole ? null : failure,
      };
    },
  };
}

function passing(failure: PartnerError, { pages }: ScanProgress): PartnerError {
  if (pages === 0 || consequence(failure, 'list') === 'poll_ends') throw failure;
  return failure;
}
