import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import { concludeListSearch, isSearchDue, type CountDoubts } from '../beliefs/count-differences.ts';
import type { ScanResult } from '../list/list-scan.ts';
import {
  baselineVerdict,
  isAnotherPassWorthwhile,
  stillHidden,
  unexplained,
  type Pass,
} from '../beliefs/passes.ts';
import { readEnds } from './read-ends.ts';
import type { PollRun } from './poll-reads.ts';
import type { MarksUpdate } from '../store/marks.ts';
import { sampleUnseen } from './sample-unseen.ts';
import { isSteady, reliableTotal } from '../list/scan-progress.ts';

/** What a full or a delta read has come to. */
export interface ReadOutcome {
  /** The marks that it has earned. */
  readonly earned: MarksUpdate;
  /** False when part of what there was to read could not be had. */
  readonly whole: boolean;
}

export interface ReadDeps {
  readonly snapshot: SnapshotStore;
  readonly doubts: CountDoubts;
  readonly random: () => number;
}

// So many of the filings that the list did not show are asked for one by one, or twice its pages if that is
// more.
const unseenReadsMin = 700;
const namesMax = 1000;
// Up to here reading the whole list once more is no matter.
const cheapPages = 40;

/**
 * Reads everything: the whole list, as often as its order calls for, then each known filing that was not on
 * it. Without a baseline this is what completes it.
 */
export async function readEverything(run: PollRun, deps: ReadDeps): Promise<ReadOutcome> {
  const { marks, startedAt } = run;
  const passes = await readPasses(run, deps);
  const { progress, end } = passes.scan;
  const readsMax = Math.max(unseenReadsMin, 2 * progress.pages);
  const unseen =
    passes.unseen === 0 && passes.unreadable.size === 0
      ? { count: 0, sample: [] }
      : await sampleUnseen(deps.snapshot, run.account, run.shown, readsMax, deps.random);
  const missed = run.dueMisses().filter((id) => !run.shown.has(id));
  await run.readFilings([...new Set([...unseen.sample, ...missed])]);
  await run.removeAbsent();

  const pass = await judge(run, deps, passes.scan, passes);
  const accounted = unexplained(pass) === 0;
  if (passes.searched || accounted)
    concludeListSearch(deps.doubts, '', pass.difference, passes.found || accounted);
  const verdict = marks.baselined
    ? { baselined: true, dryPolls: 0, hidden: stillHidden(pass, marks.hidden) }
    : baselineVerdict(pass, marks);
  const everyKnown = unseen.count <= readsMax;
  const timely = !run.tally().overtaken;
  const stoodStill = passes.count === 1 && isSteady(progress) && passes.unreadable.size === 0;
  return {
    whole: end !== 'broken' && everyKnown,
    earned: {
      sweepTriedAt: startedAt,
      dryPolls: verdict.dryPolls,
      hidden: verdict.hidden,
      ...(verdict.baselined && !marks.baselined ? { baselined: true, baselinedAt: startedAt } : {}),
      ...(end !== 'broken' && everyKnown ? { lastSweepAt: startedAt } : {}),
      ...(everyKnown && timely ? { allSeenAt: startedAt } : {}),
      ...(verdict.baselined && stoodStill && timely ? { bornSeenAt: startedAt } : {}),
      ...(verdict.baselined && accounted ? { countedAt: startedAt } : {}),
    },
  };
}

/** What all passes of one poll have shown. */
interface Passes {
  /** Records on any of them that cannot be read, by id or digest. */
  readonly unreadable: ReadonlySet<string>;
  readonly count: number;
  /** The last one. */
  readonly scan: ScanResult;
  readonly added: number;
  /** Known filings that none of them showed. */
  readonly unseen: number;
  /**
   * Whether filings that only the service's count tells of were searched for, and whether passes after the
   * first found any.
   */
  readonly searched: boolean;
  readonly found: boolean;
}

async function readPasses(run: PollRun, deps: ReadDeps): Promise<Passes> {
  const { baselined, hidden } = run.marks;
  const unreadable = new Set<string>();
  let unseenBefore = Infinity;
  let searched = false;
  let addedAtFirst = 0;
  for (let count = 1; ; count += 1) {
    const addedBefore = run.tally().added;
    // What a baseline overlooks would be announced as new later. Where it had to leave some out, the count
    // has proved wrong.
    const atLeast = baselined ? await run.known() : Infinity;
    const afterFullPage = hidden === 0 ? 'newest_first' : 'never';
    const scan = await run.readList({ trust: { atLeast, afterFullPage } });
    for (const name of scan.quarantined) unreadable.add(name);
    if (scan.end !== 'broken') await weigh(run);
    await lookAtEnds(run, scan, unreadable.size);
    const added = run.tally().added - addedBefore;
    const pass = await judge(run, deps, scan, { unreadable, added });
    if (count === 1) {
      addedAtFirst = run.tally().added;
      searched = baselined && isSearchWanted(deps.doubts, pass);
    }
    const isDoubted = run.guard.isListDoubted();
    if (
      isDoubted ||
      !isAnotherPassWorthwhile(pass, { passes: count, unseenBefore, baselined, searching: searched })
    ) {
      const found = run.tally().added > addedAtFirst;
      return { unreadable, count, scan, added, unseen: pass.unseen, searched, found };
    }
    unseenBefore = pass.unseen;
  }
}

async function weigh({ guard, knownBefore }: PollRun): Promise<void> {
  const reason = await guard.weigh(knownBefore);
  if (reason !== null) guard.doubt(reason);
}

// Filings born while a long list was read stand at one of its ends; looking there saves another pass.
async function lookAtEnds(run: PollRun, { progress, end }: ScanResult, unreadable: number): Promise<void> {
  const total = reliableTotal(progress);
  if (end === 'broken' || total === null || run.guard.isListDoubted() || progress.pages <= cheapPages) return;
  if (total > (await run.known()) + unreadable) await readEnds(run, total);
}

function isSearchWanted(doubts: CountDoubts, pass: Pass): boolean {
  if ((unexplained(pass) ?? 0) === 0) return false;
  return isSearchDue(doubts, '', pass.difference, pass.pages <= cheapPages);
}

async function judge(
  run: PollRun,
  { snapshot }: ReadDeps,
  scan: ScanResult,
  { unreadable, added }: Pick<Passes, 'unreadable' | 'added'>,
): Promise<Pass> {
  const [known, removed] = await Promise.all([run.known(), run.removed()]);
  // A record that can no longer be read may be one of those that are known from before.
  const states = await snapshot.read(run.account, [...unreadable].slice(0, namesMax));
  const strangers = states.filter((state) => state === null).length;
  const { rows, distinct, pages, totalMin } = scan.progress;
  const total = reliableTotal(scan.progress);
  const present = known - run.tally().gone;
  return {
    end: scan.end,
    difference: total === null ? null : total - present,
    hidden: total === null ? 0 : Math.max(0, (totalMin ?? total) - present),
    unreadable: strangers,
    added,
    repeatShare: rows === 0 ? 0 : 1 - distinct / rows,
    unseen: Math.max(0, known + removed + strangers - run.shown.size),
    pages,
  };
}
