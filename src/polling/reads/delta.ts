import { isKnownStatus, settledStatuses, unsettledStatuses } from '../../partner/filing-statuses.ts';
import { pageSize } from '../../partner/filing-schema.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import { concludeListSearch, isExplained, isSearchDue } from '../beliefs/count-differences.ts';
import { isHeldBack } from '../beliefs/doubt.ts';
import { isLookNeeded } from '../beliefs/weigh.ts';
import { unlessFailed, unlessRefused } from '../list/refused-lists.ts';
import { isSweepRetryDue } from '../schedule/plan.ts';
import { readFirstAndLastPage, type ReadOutcome } from './full.ts';
import type { ReadDeps } from './poll-input.ts';
import type { PollReads } from './poll-reads.ts';

// COMPLETED, the other settled status, needs no count of its own.
const countedStatus = 'REJECTED';

/**
 * Reads the parts that may have changed since the last poll: the unsettled lists, the filings that left them,
 * and the counts that show whether a settled filing moved. Null if only a sweep can decide, for example
 * because the service refuses one of these lists.
 */
export async function readDelta(reads: PollReads, deps: ReadDeps): Promise<ReadOutcome | null> {
  const { account, tally } = reads;
  const { marks, startedAt } = reads.input;
  const [counts, before] = await Promise.all([deps.snapshot.counts(account), unsettledIds(reads, deps)]);
  const isWhole = await readLists(reads);
  if (isWhole === null) return null;
  const ofUnknownStatus = await readUnknownStatuses(reads, deps, counts);
  const left = [...before, ...ofUnknownStatus, ...reads.missed.due()].filter((id) => !reads.shown.has(id));
  if (!(await readLeftUnsettled(reads, deps, [...new Set(left)]))) return null;

  const differences = marks.baselined ? await compareCounts(reads, deps) : null;
  if (differences === 'sweep') return null;
  const isAbsenceOdd = reads.absent() > 0 && differences === 'some';
  if ((isLookNeeded(reads.findings.evidence()) || isAbsenceOdd) && !(await isOwn(reads))) return null;
  await reads.conclude();
  return {
    whole: isWhole,
    earned: {
      ...(tally.overtaken ? {} : { unsettledSeenAt: startedAt }),
      ...(differences === 'none' ? { countedAt: startedAt } : {}),
    },
  };
}

// The lists of a delta need not show any known filing; the two ends of the whole list do, up to a page each.
// False when a sweep has to decide.
async function isOwn(reads: PollReads): Promise<boolean> {
  const { findings, input } = reads;
  await readFirstAndLastPage(reads, (await reads.countOf()) ?? input.known);
  findings.expect(pageSize);
  if (!(await reads.weigh()).list) return true;
  // A doubt that a recent sweep has confirmed is not worth another sweep.
  const isSweepDue = isSweepRetryDue({ ...input, ...input.account, now: input.startedAt });
  return isHeldBack(input.marks) && !isSweepDue;
}

async function unsettledIds({ account }: PollReads, { snapshot }: ReadDeps): Promise<string[]> {
  const lists = unsettledStatuses.map((status) => snapshot.idsIn(account, status));
  return (await Promise.all(lists)).flat();
}

// Reads all lists concurrently, as far as the budget allows. A filing that moves between two of them
// meanwhile is either on one of them or among the filings that left. Null when the service refuses one of
// them.
async function readLists(reads: PollReads): Promise<boolean | null> {
  const scans = await allEnded(
    unsettledStatuses.map((status) => unlessRefused(reads.readList({ status }), null)),
  );
  return scans.includes(null) ? null : scans.every((scan) => scan?.end !== 'broken');
}

// Maximum number of filings that are read one by one without a look at the settled lists.
const readSinglyMax = 3;
// Minimum number of such filings on a page of a settled list for the page to be worth its request.
const foundPerPageMin = 2;
const pagesMax = 50;
// Maximum number of filings that are read one by one, or one percent of the known filings if that is more.
const sweepReadsMin = 200;

/**
 * Reads the filings that left the unsettled lists: first the newest pages of the settled lists, as long as
 * they show such filings, then the rest one by one. A false alarm costs a request, never an event. False when
 * a sweep would be cheaper.
 */
async function readLeftUnsettled(
  reads: PollReads,
  { snapshot }: ReadDeps,
  ids: readonly string[],
): Promise<boolean> {
  const left = new Set(ids);
  if (left.size > readSinglyMax)
    await allEnded(settledStatuses.map((status) => findOnNewestPages(reads, status, left)));
  if (left.size > sweepReadsMin && left.size > (await snapshot.known(reads.account)) / 100) return false;
  await reads.readFilings([...left]);
  return true;
}

async function findOnNewestPages(reads: PollReads, status: string, left: Set<string>): Promise<void> {
  let offset = 0;
  for (let page = 0; page < pagesMax && left.size > readSinglyMax; page += 1) {
    const read = await unlessFailed(reads.readPage(offset, status));
    if (read === null) return;
    const found = read.ids.filter((id) => left.delete(id)).length;
    if (found < foundPerPageMin) return;
    offset += read.length;
    if (read.total !== null && offset >= read.total) return;
  }
}

/**
 * Compares two totals of the service with the snapshot. A higher overall total means that filings appeared
 * already settled. A different REJECTED total means that filings moved between REJECTED and COMPLETED.
 * COMPLETED needs no request of its own. A difference that persists over several polls leads to a search of
 * the list; `sweep` when the search takes the whole list.
 */
async function compareCounts(reads: PollReads, deps: ReadDeps): Promise<'none' | 'some' | 'sweep'> {
  const [all, counted] = await allEnded([reads.countOf(), reads.countOf(countedStatus)]);
  const known = await lookForBorn(reads, deps, { all, counts: await deps.snapshot.counts(reads.account) });
  const unknown = unknownFilings(reads, known);
  if (isSearchDue(deps.differences, '', unknown, false)) return 'sweep';
  const moved = differenceIn(countedStatus, counted, known.counts);
  if (isSearchDue(deps.differences, countedStatus, moved, false)) {
    const { events } = reads.tally;
    const left = await searchList(reads, deps, countedStatus);
    concludeListSearch(deps.differences, countedStatus, left, reads.tally.events > events);
  }
  return unknown !== 0 || moved !== 0 ? 'some' : 'none';
}

/** The service's count of all filings, null when it gives none, and the known ones by status. */
interface Known {
  readonly all: number | null;
  readonly counts: Readonly<Record<string, number>>;
}

async function lookForBorn(
  reads: PollReads,
  { snapshot, differences }: ReadDeps,
  known: Known,
): Promise<Known> {
  const difference = unknownFilings(reads, known);
  if (known.all === null || difference === null || difference <= 0) return known;
  if (isExplained(differences, '', difference)) return known;
  const all = await readFirstAndLastPage(reads, known.all);
  return { all, counts: await snapshot.counts(reads.account) };
}

function unknownFilings(reads: PollReads, { all, counts }: Known): number | null {
  if (all === null) return null;
  const known = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return all - (known + reads.findings.births() - reads.missed.gone());
}

function differenceIn(status: string, total: number | null, counts: Known['counts']): number | null {
  return total === null ? null : total - (counts[status] ?? 0);
}

async function searchList(reads: PollReads, deps: ReadDeps, status: string): Promise<number | null> {
  const before = await deps.snapshot.idsIn(reads.account, status);
  const { position } = await reads.readList({ status });
  await reads.readFilings(before.filter((id) => !reads.shown.has(id)));
  return differenceIn(status, position.total, await deps.snapshot.counts(reads.account));
}

// Maximum number of filings in a status for its list to be read. In a larger status each poll reads a few
// filings.
const listedMax = 300;
const sampledMax = 20;

/**
 * Reads the filings in unknown statuses (docs/partner.md#statuses). It is also unknown whether such a status
 * is final, whether the service lists by it, and how many filings gather in it. A poll therefore spends
 * little: it reads the list of each status, or some of the filings if there is no list or a long one. Returns
 * the filings that left their list, which must be read one by one.
 */
async function readUnknownStatuses(
  reads: PollReads,
  { snapshot, random }: ReadDeps,
  counts: Readonly<Record<string, number>>,
): Promise<string[]> {
  const unknown = Object.entries(counts).filter(([status, count]) => count > 0 && !isKnownStatus(status));
  const left: string[] = [];
  for (const [status, count] of unknown) {
    // More than one such status is very rare.
    // oxlint-disable no-await-in-loop
    const before = await snapshot.idsIn(reads.account, status);
    const isListed = count <= listedMax && (await readListOf(reads, status));
    // oxlint-enable no-await-in-loop
    left.push(...(isListed ? before.filter((id) => !reads.shown.has(id)) : sample(before, random)));
  }
  return left;
}

// False when the service cannot list by this status: it refuses, fails, or answers with filings in others.
async function readListOf(reads: PollReads, status: string): Promise<boolean> {
  const first = await unlessFailed(reads.readPage(0, status));
  if (first === null || first.strayed) return false;
  const { total, length } = first;
  if (total === null ? length < pageSize : total <= length) return true;
  const scan = await unlessFailed(reads.readList({ status }));
  return scan !== null && scan.end !== 'broken';
}

function sample(ids: readonly string[], random: () => number): string[] {
  if (ids.length <= sampledMax) return [...ids];
  const from = Math.floor(random() * ids.length);
  return [...ids.slice(from), ...ids.slice(0, from)].slice(0, sampledMax);
}
