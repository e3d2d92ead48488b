import { pageSize } from '../../partner/filing-schema.ts';
import { isHeldBack, type Doubt } from '../beliefs/doubt.ts';
import { believed, type Verdict } from '../beliefs/weigh.ts';
import { describeCut, describeLeftOut, nameOfList } from '../list/gaps.ts';
import { createIdSet } from '../list/id-set.ts';
import { scanList, type ScanRequest, type ScanResult } from '../list/list-scan.ts';
import { createPageWork } from '../list/page-work.ts';
import { unlessFailed, unlessRefused } from '../list/refused-lists.ts';
import { splitRepeatedRows, type ShownPage } from '../list/repeated-rows.ts';
import { createFilingReader } from './filing-reader.ts';
import { createMissedRecord } from './missed-record.ts';
import { createFindings, type Tally } from './findings.ts';
import type { PollInput, ReadDeps } from './poll-input.ts';

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
export type PollReads = ReturnType<typeof createPollReads>;

// Maximum number of filings that are read one by one because they are late.
const lateMax = 20;
// Maximum number of contradictions that one poll settles; the others wait for the next poll.
const settledMax = 100;

/** Prepares the reads of one poll of an account. */
export function createPollReads(deps: ReadDeps, input: PollInput) {
  const { account } = input.account;
  const { client, signal, isLong = false } = input;
  const shown = createIdSet();
  const missed = createMissedRecord(deps, input);
  const findings = createFindings(deps, input, missed);
  const { tally } = findings;
  const reader = createFilingReader(deps.now, input, findings, missed);
  let verdict: Verdict = believed;
  let settled = 0;
  let scans = 0;

  async function observe({ page, span, rows }: ShownPage): Promise<void> {
    tally.listedFiling = page.filings.at(-1)?.id ?? tally.listedFiling;
    const contradicted = (await findings.observePage(rows, span)).slice(0, settledMax - settled);
    settled += contradicted.length;
    await reader.read(contradicted);
    if (page.quarantined.length > 0) await missed.rememberUnreadable(page.quarantined);
  }

  async function readPage(offset: number, limit: number, status?: string): Promise<PageRead> {
    const query = { offset, limit, ...(status === undefined ? {} : { status }) };
    const answer = await client.listFilings(query, signal);
    const { total, length, filings, quarantined } = answer.page;
    const rows = splitRepeatedRows(filings, (id) => shown.add(id, 0) === 'new');
    for (const name of quarantined) shown.add(name, 0);
    await observe({ ...answer, rows }).finally(answer.release);
    const strayed = status !== undefined && filings.some((filing) => filing.status !== status);
    return { total, length, ids: filings.map(({ id }) => id), strayed };
  }

  // The lists of a delta do not show settled filings.
  async function readLate(): Promise<void> {
    const left = [...input.late.keys()].filter((id) => !shown.has(id) && missed.get(id) === undefined);
    await reader.read(left.slice(0, lateMax));
  }

  return {
    input,
    /** The account's name. */
    account,
    findings,
    /** The poll's counts and findings so far. */
    tally,
    missed,
    /** Ids on any page that the poll has read, including those of records that cannot be read. */
    shown,
    /** Reads a whole list, or the part of it in one status. */
    async readList(request: ScanRequest): Promise<ScanResult> {
      const isSweep = isLong && request.status === undefined;
      scans += 1;
      const scan = scanList({ listing: client, shown, part: scans, signal }, { ...request, isSweep });
      const work = createPageWork();
      try {
        for await (const page of scan.pages())
          await work.begin(page.bytes, observe(page).finally(page.release));
        await work.done();
      } finally {
        await work.settled();
      }
      const result = scan.result();
      noteGaps(tally, result, request.status);
      const { records, examples } = unreadableIn(result, request.status);
      if (records > 0) deps.onQuarantined(account, records, examples);
      return result;
    },
    readPage: (offset: number, status?: string): Promise<PageRead> => readPage(offset, pageSize, status),
    /**
     * The service's count of filings in a status, or of all filings. Null when the service gives none, or
     * cannot list them. Costs one request.
     */
    async countOf(status?: string): Promise<number | null> {
      // A record that cannot be read may stand first. A refusal is about the list.
      for (const offset of [0, 1, 2]) {
        const page = await unlessFailed(unlessRefused(readPage(offset, 1, status), 'refused'));
        if (page === 'refused') return null;
        if (page !== null) return page.total;
      }
      return null;
    },
    /**
     * Reads filings one by one. Of those that may no longer be the account's, because its lists are doubted
     * or something is held back, it samples a few first.
     */
    async readFilings(ids: readonly string[]) {
      const wasHeldBack = isHeldBack(input.marks);
      const isGone = (id: string) => wasHeldBack && missed.get(id)?.gone === true;
      const others = ids.filter((id) => !isGone(id));
      if (verdict.list) return reader.read(ids, true);
      await reader.read(others);
      await reader.read(ids.filter(isGone), true);
    },
    /** Number of second 404s of this poll: removals that wait for `conclude`. */
    absent: reader.absent,
    /** What is to be believed of the reads so far. */
    weigh: async (): Promise<Verdict> => (verdict = await findings.weigh()),
    /** Commits what waited for the end of the reads, as far as it is believed. */
    async conclude() {
      verdict = await findings.weigh();
      if (verdict.reason === null) await readLate();
      verdict = await findings.conclude();
      if (!verdict.removals) await reader.removeAbsent();
    },
    /** What is doubted after `conclude`; null for nothing. */
    doubt: (): Doubt | null => findings.doubtOf(verdict),
    /** The verdict of the last `weigh` or `conclude`. */
    verdict: (): Verdict => verdict,
  };
}

// Records that a list lacks, and the offset behind which it cannot be read.
function noteGaps(
  tally: Tally,
  { failure, leftOut, end, position }: ScanResult,
  status: string | undefined,
): void {
  const cut = end === 'cut' && failure !== null ? describeCut(status, position.offset, failure) : '';
  if (cut === '') tally.listFailure = failure ?? tally.listFailure;
  tally.leftOut += leftOut.length;
  tally.gaps.set(status ?? '', [describeLeftOut(status, leftOut), cut].filter(Boolean).join('; '));
}

// The number of records of a list that cannot be read, and the names of a few.
function unreadableIn({ quarantined, unreadable, leftOut }: ScanResult, status: string | undefined) {
  const offsets = leftOut.map(({ offset }) => `offset ${offset} of ${nameOfList(status)}`);
  const examples = [...quarantined, ...offsets].slice(0, examplesMax);
  return { records: unreadable + leftOut.length, examples };
}
