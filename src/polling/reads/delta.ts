import { allEnded } from '../../waiting/all-ended.ts';
import { concludeListSearch, isExplained, isSearchDue } from '../beliefs/count-differences.ts';
import { isHeldBack } from '../doubt/doubt.ts';
import { unsettledStatuses } from '../../partner/filing-statuses.ts';
import { isSweepRetryDue } from '../schedule/plan.ts';
import type { ReadDeps, ReadOutcome } from './full.ts';
import type { PollRun } from './poll-reads.ts';
import { unlessRefused } from '../list/refused-lists.ts';
import { readEnds } from './read-ends.ts';
import { readStrange } from './unknown-statuses.ts';
import { readVanished } from './vanished.ts';

/**
 * Reads what may have changed since the last poll: the unsettled lists, the filings that left them, and the
 * counts that tell whether anything settled moved. Null when only a sweep can tell, as where the service
 * refuses one of these lists.
 */
export async function readDelta(run: PollRun, deps: ReadDeps): Promise<ReadOutcome | null> {
  if (unsettledStatuses.some(run.isRefused)) return null;
  const [counts, before] = await Promise.all([deps.snapshot.counts(run.account), unsettledIds(run, deps)]);
  const whole = await readLists(run, counts);
  if (whole === null) return null;
  const strangers = await readStrange(run, deps.snapshot, counts, deps.random);
  const vanished = [...before, ...strangers, ...run.dueMisses()].filter((id) => !run.shown.has(id));
  if (!(await readVanished(run, [...new Set(vanished)]))) return null;

  const differences = run.marks.baselined ? await compareCounts(run, deps) : null;
  if (differences === 'sweep') return null;
  const isAbsenceOdd = run.tally().absent > 0 && differences === 'some';
  if ((run.guard.isOpen() || isAbsenceOdd) && !(await weigh(run))) return null;
  await run.removeAbsent();
  const { startedAt } = run;
  return {
    whole,
    earned: {
      ...(run.tally().overtaken ? {} : { unsettledSeenAt: startedAt }),
      ...(differences === 'none' ? { countedAt: startedAt } : {}),
    },
  };
}

// Of the whole list each of its ends shows that many filings at the most.
const pageSize = 100;

// The lists of a delta need not show anything that is known; the ends of the whole one do. False when a sweep
// has to decide.
async function weigh(run: PollRun): Promise<boolean> {
  await readEnds(run, (await run.countOf()) ?? run.knownBefore);
  const reason = await run.guard.weigh(Math.min(run.knownBefore, pageSize));
  if (reason === null) return !run.guard.isToBeRepeated();
  // What a sweep has doubted a moment ago it need not read again.
  if (!isHeldBack(run.marks) || isSweepRetryDue({ ...run, now: run.startedAt })) return false;
  run.guard.doubt(reason);
  return true;
}

async function unsettledIds(run: PollRun, { snapshot }: ReadDeps): Promise<string[]> {
  const lists = unsettledStatuses.map((status) => snapshot.idsIn(run.account, status));
  return (await Promise.all(lists)).flat();
}

// All at once: the budget says how many really are, and a filing that moves between two of them meanwhile is
// either on one of them or among the vanished. Null when the service refuses one of them.
async function readLists(run: PollRun, counts: Readonly<Record<string, number>>): Promise<boolean | null> {
  const scans = await allEnded(
    unsettledStatuses.map((status) => {
      const trust = { atLeast: counts[status] ?? 0, afterFullPage: 'always' } as const;
      return unlessRefused(run.readList({ status, trust }));
    }),
  );
  return scans.includes(null) ? null : scans.every((scan) => scan?.end !== 'broken');
}

/**
 * The unfiltered total tells of filings born settled, that of REJECTED of moves between the settled statuses;
 * the one of COMPLETED follows from the two. Searches where they differ for good.
 */
async function compareCounts(run: PollRun, deps: ReadDeps): Promise<'none' | 'some' | 'sweep'> {
  const [all, rejected] = await allEnded([run.countOf(), run.countOf('REJECTED')]);
  const known = await lookForBorn(run, deps, { all, counts: await deps.snapshot.counts(run.account) });
  const unknown = unknownFilings(run, known);
  if (isSearchDue(deps.doubts, '', unknown, false)) return 'sweep';
  const moved = rejectedDifference(rejected, known.counts);
  if (isSearchDue(deps.doubts, 'REJECTED', moved, false)) {
    const { events } = run.tally();
    const left = await searchRejected(run, deps);
    concludeListSearch(deps.doubts, 'REJECTED', left, run.tally().events > events);
  }
  return unknown === 0 && moved === 0 ? 'none' : 'some';
}

/** The service's count of all filings, null when it gives none, and the known ones by status. */
interface Known {
  readonly all: number | null;
  readonly counts: Readonly<Record<string, number>>;
}

async function lookForBorn(run: PollRun, { snapshot, doubts }: ReadDeps, known: Known): Promise<Known> {
  const difference = unknownFilings(run, known);
  if (known.all === null || difference === null || difference <= 0) return known;
  if (isExplained(doubts, '', difference)) return known;
  const all = await readEnds(run, known.all);
  return { all, counts: await snapshot.counts(run.account) };
}

function unknownFilings(run: PollRun, { all, counts }: Known): number | null {
  if (all === null) return null;
  const known = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return all - (known - run.tally().gone);
}

function rejectedDifference(total: number | null, counts: Known['counts']): number | null {
  return total === null ? null : total - (counts['REJECTED'] ?? 0);
}

async function searchRejected(run: PollRun, deps: ReadDeps): Promise<number | null> {
  const before = await deps.snapshot.idsIn(run.account, 'REJECTED');
  const { progress } = await run.readList({
    status: 'REJECTED',
    trust: { atLeast: before.length, afterFullPage: 'never' },
  });
  await run.readFilings(before.filter((id) => !run.shown.has(id)));
  return rejectedDifference(progress.total, await deps.snapshot.counts(run.account));
}
