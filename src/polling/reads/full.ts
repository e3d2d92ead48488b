import type { FilingState } from '../../filings/detection/filing-state.ts';
import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import { pageSize } from '../../partner/filing-schema.ts';
import { knownStatuses } from '../../partner/filing-statuses.ts';
import { isUnreadable } from '../../redis/unreadable-record.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import { concludeListSearch, isSearchDue, type CountDifferences } from '../beliefs/count-differences.ts';
import {
  baselineVerdict,
  isAnotherPassWorthwhile,
  stillUnlisted,
  unexplained,
  type Pass,
} from '../beliefs/passes.ts';
import { createIdSet, type IdSet } from '../list/id-set.ts';
import type { ScanResult } from '../list/list-scan.ts';
import { unlessFailed } from '../list/refused-lists.ts';
import { isSteady, reliableTotal } from '../list/scan-position.ts';
import type { MarksUpdate } from '../store/marks.ts';
import type { ReadDeps } from './poll-input.ts';
import type { PollReads } from './poll-reads.ts';

/** The result of a full or a delta read. */
export interface ReadOutcome {
  /** The marks that it has earned. */
  readonly earned: MarksUpdate;
  /** False when part of the lists or filings could not be read. */
  readonly whole: boolean;
}

// Maximum number of unlisted filings that are read one by one, or twice the list's pages if that is more.
const unlistedReadsMin = 700;
// Maximum number of unreadable records that are looked up in the snapshot.
const namesMax = 1000;
// Maximum number of pages of a list that is cheap to read once more.
const cheapPages = 40;

/**
 * Reads everything: the whole list, as often as its order requires, then each known filing that was not on
 * it. An account without a baseline gets it from these reads.
 */
export async function readEverything(reads: PollReads, deps: ReadDeps): Promise<ReadOutcome> {
  const { marks, startedAt } = reads.input;
  const passes = await readPasses(reads, deps);
  const { position, end } = passes.scan;
  const isLacking = end === 'cut' || passes.unseen > pageSize;
  const isMadeUp =
    (isLacking || !marks.baselined) &&
    !reads.verdict().list &&
    (await readListsByStatus(reads, deps, isLacking ? 'all' : position.total));
  const readsMax = Math.max(unlistedReadsMin, 2 * position.pages);
  const unlisted =
    end !== 'cut' && passes.unseen === 0 && passes.unreadable.size === 0
      ? { count: 0, sample: [] }
      : await sampleUnlisted(deps, reads.account, reads.shown, readsMax);
  const missed = reads.missed.due().filter((id) => !reads.shown.has(id));
  const single = [...new Set([...unlisted.sample, ...missed])];
  await reads.readFilings(single);
  const isMore = isLacking || !marks.baselined || single.length > 0 || reads.findings.births() > 0;
  await reads.conclude();

  const pass = isMore ? await judge(reads, deps, passes.scan, passes) : passes.pass;
  const isAccounted = unexplained(pass) === 0;
  const { gaps } = reads.tally;
  const isNamed = [...gaps].some(([status, gap]) => status !== '' && gap !== '');
  if (end === 'cut' && (isNamed || (isMadeUp && (unexplained(pass) ?? 1) <= 0))) gaps.delete('');
  if (passes.searched || isAccounted)
    concludeListSearch(deps.differences, '', pass.difference, passes.found || isAccounted);
  const verdict = marks.baselined
    ? { baselined: true, pollsWithoutNews: 0, unlistedCount: stillUnlisted(pass, marks.hidden) }
    : baselineVerdict(pass, { pollsWithoutNews: marks.dryPolls, unlistedCount: marks.hidden });
  const isEveryKnown = unlisted.count <= readsMax;
  // Neither the next poll nor another sweep reads behind a cut.
  const isWhole = end === 'cut' || (end !== 'broken' && isEveryKnown);
  const isTimely = !reads.tally.overtaken;
  // A list that ends before all that the service has may hide filings that are older than this poll.
  const isAll = (unexplained(pass) ?? 0) === 0;
  const stoodStill = isAll && passes.count === 1 && isSteady(position) && passes.unreadable.size === 0;
  return {
    whole: isWhole,
    earned: {
      sweepTriedAt: startedAt,
      dryPolls: verdict.pollsWithoutNews,
      hidden: verdict.unlistedCount,
      ...(verdict.baselined && !marks.baselined ? { baselined: true, baselinedAt: startedAt } : {}),
      ...(isWhole ? { lastSweepAt: startedAt } : {}),
      ...(isEveryKnown && isTimely ? { allSeenAt: startedAt } : {}),
      ...(verdict.baselined && stoodStill && isTimely && reads.tally.dropped === 0
        ? { bornSeenAt: startedAt }
        : {}),
      ...(verdict.baselined && isAccounted ? { countedAt: startedAt } : {}),
    },
  };
}

/** The result of all passes of one poll. */
interface Passes {
  /** Records on any of them that cannot be read, by id or digest. */
  readonly unreadable: ReadonlySet<string>;
  readonly count: number;
  /** The last one, and what it says. */
  readonly scan: ScanResult;
  readonly pass: Pass;
  readonly added: number;
  /** Known filings that none of them showed. */
  readonly unseen: number;
  /** Whether the passes searched for filings that only the service's count shows. */
  readonly searched: boolean;
  /** Whether passes after the first found new filings. */
  readonly found: boolean;
}

async function readPasses(reads: PollReads, deps: ReadDeps): Promise<Passes> {
  const { baselined } = reads.input.marks;
  const unreadable = new Set<string>();
  let unseenBefore = Infinity;
  let searched = false;
  let addedAtFirst = 0;
  for (let count = 1; ; count += 1) {
    const addedBefore = reads.tally.added;
    const scan = await reads.readList({});
    for (const name of scan.quarantined) unreadable.add(name);
    const { rows } = scan.position;
    reads.findings.expect(scan.end === 'broken' || scan.end === 'cut' ? rows : Infinity);
    await reads.weigh();
    await lookAtEnds(reads, deps, scan, unreadable.size);
    const added = reads.tally.added - addedBefore;
    const pass = await judge(reads, deps, scan, { unreadable, added });
    if (count === 1) {
      addedAtFirst = reads.tally.added;
      searched = baselined && isSearchWanted(deps.differences, pass);
    }
    const history = { passes: count, unseenBefore, baselined, searching: searched };
    const expected = { ...pass, unseen: pass.unseen - scan.leftOut.length };
    if (reads.verdict().list || !isAnotherPassWorthwhile(expected, history)) {
      const found = reads.tally.added > addedAtFirst;
      return { unreadable, count, scan, pass, added, unseen: pass.unseen, searched, found };
    }
    unseenBefore = pass.unseen;
  }
}

// Filings created while a long list was read stand at one of its ends; reading both ends saves another pass.
async function lookAtEnds(
  reads: PollReads,
  { snapshot }: ReadDeps,
  { position, end }: ScanResult,
  unreadable: number,
): Promise<void> {
  const total = reliableTotal(position);
  if (
    end === 'broken' ||
    end === 'cut' ||
    total === null ||
    reads.verdict().list ||
    position.pages <= cheapPages
  )
    return;
  const known = (await snapshot.known(reads.account)) + reads.findings.births();
  if (total > known + unreadable) await readFirstAndLastPage(reads, total);
}

/**
 * Reads the first and the last page of the whole list. Most services list by age, so new filings stand on one
 * of the two. A page that cannot be read is left to the next sweep. Returns the service's count, null when it
 * gave none.
 */
export async function readFirstAndLastPage(reads: PollReads, total: number): Promise<number | null> {
  const [first] = await allEnded([
    unlessFailed(reads.readPage(0)),
    unlessFailed(reads.readPage(Math.max(0, total - pageSize))),
  ]);
  return first === null ? total : first.total;
}

/**
 * Reads the lists by status, which show what the whole list leaves out behind an offset that the service
 * refuses, or behind a total that is too low. Given the `total` of the whole list, it reads only those whose
 * count differs from what is known. Returns whether each list was read to its end.
 */
async function readListsByStatus(
  reads: PollReads,
  { snapshot }: Pick<ReadDeps, 'snapshot'>,
  total: number | null | 'all',
): Promise<boolean> {
  const known = await snapshot.counts(reads.account);
  const statuses = [...new Set([...knownStatuses, ...Object.keys(known)])];
  const counts = total === 'all' ? [] : await allEnded(statuses.map((status) => reads.countOf(status)));
  // A service that ignores `status` gives the same count everywhere.
  if (counts.length > 0 && counts.every((count) => count === total)) return true;
  let isWhole = true;
  for (const [i, status] of statuses.entries()) {
    const count = counts[i] ?? null;
    if (total !== 'all' && (count === null || count === (known[status] ?? 0))) continue;
    const scan = await unlessFailed(reads.readList({ status }));
    isWhole &&= scan?.end === 'complete' || scan?.end === 'short';
  }
  return isWhole;
}

function isSearchWanted(differences: CountDifferences, pass: Pass): boolean {
  if ((unexplained(pass) ?? 0) === 0) return false;
  return isSearchDue(differences, '', pass.difference, pass.pages <= cheapPages);
}

async function judge(
  reads: PollReads,
  { snapshot, polling }: ReadDeps,
  scan: ScanResult,
  { unreadable, added }: Pick<Passes, 'unreadable' | 'added'>,
): Promise<Pass> {
  const { account, input, missed, shown } = reads;
  const { tally, isLong = false, marks } = { ...reads, ...input };
  const isQuiet = !isLong && tally.events === 0 && tally.added === 0;
  const { known: stored, removals } = isQuiet
    ? { known: input.known, removals: marks.removals }
    : await polling.known(account);
  const known = stored + reads.findings.births();
  // This poll may have shown filings that this or another poll has removed since.
  const removed = Math.max(0, removals - input.marks.removals);
  // A record that can no longer be read may be a known filing.
  const states = await snapshot.read(account, [...unreadable].slice(0, namesMax));
  const unreadableNew = states.filter((state) => state === null).length;
  const { rows, distinct, pages, totalMin, leftOut } = scan.position;
  const total = reliableTotal(scan.position);
  const present = known - missed.gone();
  const difference = total === null ? null : total - present;
  // Of the records that are left out, some may be known filings.
  const leftOutNew = Math.min(leftOut, Math.max(0, (difference ?? 0) - unreadableNew));
  return {
    end: scan.end,
    difference,
    unlistedCount: total === null ? 0 : Math.max(0, (totalMin ?? total) - present),
    unreadable: unreadableNew + leftOutNew,
    added,
    repeatShare: rows === 0 ? 0 : 1 - distinct / rows,
    unseen: Math.max(0, known + removed + unreadableNew - shown.size),
    pages,
  };
}

/**
 * Samples the known filings that are not in `listed`, removed ones left out: their number, and up to `max` of
 * them. Each filing has the same odds, so all of them are read over a number of polls.
 */
async function sampleUnlisted(
  { snapshot, random }: { readonly snapshot: SnapshotStore; readonly random: () => number },
  account: string,
  listed: IdSet,
  max: number,
): Promise<{ readonly count: number; readonly sample: readonly string[] }> {
  // A scan may name an id twice.
  const met = createIdSet();
  const sample: string[] = [];
  for await (const chunk of snapshot.scan(account)) {
    for (const [id, state] of chunk) {
      if (listed.has(id) || isLeftAlone(state) || met.add(id, 0) !== 'new') continue;
      const slot = met.size <= max ? met.size - 1 : Math.floor(random() * met.size);
      if (slot < max) sample[slot] = id;
    }
  }
  return { count: met.size, sample };
}

// A state that cannot be read is set aside when the filing is read.
function isLeftAlone(state: () => FilingState): boolean {
  try {
    return state().removed;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return false;
  }
}
