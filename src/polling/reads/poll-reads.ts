import { pageSize } from '../../partner/filing-schema.ts';
import { createListGuard, type ListGuard } from '../doubt/list-guard.ts';
import { describeCut, describeLeftOut, nameOfList } from '../list/gaps.ts';
import { createIdSet, type IdSet } from '../list/id-set.ts';
import { scanList, type ScanRequest, type ScanResult } from '../list/list-scan.ts';
import { createPageWork } from '../list/page-work.ts';
import { createListing, unlessFailed } from '../list/refused-lists.ts';
import { splitRepeatedRows } from '../list/repeated-rows.ts';
import { createFilingReader } from './filing-reader.ts';
import { createMissedRecord, type MissedRecord } from './missed-record.ts';
import { createObserver } from './observer.ts';
import { createPageObserver } from './page-observer.ts';
import type { PollInput, ReadDeps } from './poll-input.ts';
import { startTally, type Tally } from './tally.ts';

/** The first page of a list, or another single one. */
export interface PageRead {
  readonly total: number | null;
  readonly length: number;
  readonly ids: readonly string[];
  /** True when it held filings in another status than the requested one. */
  readonly strayed: boolean;
}

// Maximum number of records that cannot be read of which the name is reported.
const examplesMax = 5;

/** The reads of one poll. Each resolves once it has compared the filings read with the snapshot. */
export interface PollReads {
  readonly input: PollInput;
  /** The account's name. */
  readonly account: string;
  /** Keeps the poll from announcing filings of lists that are not the account's own. */
  readonly guard: ListGuard;
  /** The poll's counts and findings so far. */
  readonly tally: Readonly<Tally>;
  readonly missed: Pick<MissedRecord, 'due' | 'gone'>;
  /** Ids on any page that the poll has read, including those of records that cannot be read. */
  readonly shown: IdSet;
  /** Reads a whole list, or the part of it in one status. */
  readList(request: ScanRequest): Promise<ScanResult>;
  readPage(offset: number, status?: string): Promise<PageRead>;
  /**
   * Whether the service has refused the list of a status within the sweep interval: reading it rejects with
   * that refusal.
   */
  isRefused(status: string): boolean;
  /**
   * The service's count of filings in a status, or of all filings. Null when the service gives none, or
   * cannot list them. Costs one request.
   */
  countOf(status?: string): Promise<number | null>;
  /** Reads filings one by one. */
  readFilings(ids: readonly string[]): Promise<void>;
  /**
   * Removes filings that answered 404 on two polls while the account itself answers. A doubted removal is
   * left out.
   */
  removeAbsent(): Promise<void>;
  /** Number of second 404s of this poll that wait for `removeAbsent`. */
  absent(): number;
}

/** Prepares the reads of one poll of an account. */
export function createPollReads(deps: ReadDeps, input: PollInput): PollReads {
  const { account, sweepIntervalMs } = input.account;
  const { signal, isLong = false } = input;
  const shown = createIdSet();
  const listing = createListing({ ...deps, forMs: sweepIntervalMs });
  const tally = startTally(input.eventsBefore ?? 0);
  const missed = createMissedRecord(deps, input);
  const guard = createListGuard(deps, input, missed);
  const observer = createObserver(deps, input, { guard, missed, tally });
  const reader = createFilingReader(deps, input, { observer, guard, missed, tally });
  const pages = createPageObserver(deps, input, { observer, guard, reader, missed, tally });

  async function readPage(offset: number, limit: number, status?: string): Promise<PageRead> {
    const query = { offset, limit, ...(status === undefined ? {} : { status }) };
    const answer = await listing.listFilings(query, signal);
    const { total, length, filings, quarantined } = answer.page;
    const rows = splitRepeatedRows(filings, shown.add);
    for (const name of quarantined) shown.add(name);
    await pages.observe({ ...answer, rows }, status).finally(answer.release);
    const strayed = status !== undefined && filings.some((filing) => filing.status !== status);
    return { total, length, ids: filings.map(({ id }) => id), strayed };
  }

  function noteGaps(result: ScanResult, status: string | undefined): void {
    const { failure, leftOut, unreadable, quarantined, end, position } = result;
    const cut = end === 'cut' && failure !== null ? describeCut(status, position.offset, failure) : '';
    if (cut === '') tally.listFailure = failure ?? tally.listFailure;
    tally.leftOut += leftOut.length;
    tally.gaps.set(status ?? '', [describeLeftOut(status, leftOut), cut].filter(Boolean).join('; '));
    const records = unreadable + leftOut.length;
    const offsets = leftOut.map(({ offset }) => `offset ${offset} of ${nameOfList(status)}`);
    if (records > 0) deps.onQuarantined(account, records, [...quarantined, ...offsets].slice(0, examplesMax));
  }

  return {
    input,
    account,
    guard,
    tally,
    missed,
    shown,
    async readList(request) {
      const isSweep = isLong && request.status === undefined;
      const scan = scanList({ listing, shown, signal }, { ...request, isSweep });
      const work = createPageWork();
      try {
        for await (const page of scan.pages())
          await work.begin(page.bytes, pages.observe(page, request.status).finally(page.release));
        await work.done();
      } finally {
        await work.settled();
      }
      const result = scan.result();
      noteGaps(result, request.status);
      return result;
    },
    readPage: (offset, status) => readPage(offset, pageSize, status),
    isRefused: listing.isRefused,
    async countOf(status) {
      // A record that cannot be read may stand first.
      for (const offset of [0, 1, 2]) {
        const page = await unlessFailed(readPage(offset, 1, status));
        if (page !== null) return page.total;
      }
      return null;
    },
    readFilings: reader.readCarefully,
    removeAbsent: reader.removeAbsent,
    absent: reader.absent,
  };
}
