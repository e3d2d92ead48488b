import type { EventLog } from '../events/event-log.ts';
import { isSameCheckpoint, type Checkpoint } from '../events/timeline.ts';
import type { CommitJournal } from './commit/commit-journal.ts';
import type { PublishedEvent } from './commit/kept-commits.ts';
import { showsTheSame, stayMarks, type FilingState, type StoredState } from './detection/filing-state.ts';
import type { CommitWriter } from './commit/commit-writer.ts';
import type { FilingCommit } from './detection/decide-commit.ts';
import type { ReadStates } from './read-states.ts';

/** The result of restoring commits that Redis had lost. */
export interface Restoration {
  readonly account: string;
  /** Number of events that were appended again, under their own ids. */
  readonly restored: number;
  /**
   * Filings with a missing event that this process does not remember: the next read of each leads to an event
   * in any case.
   */
  readonly restated: readonly string[];
}

export interface RestoreDeps {
  readonly log: Pick<EventLog, 'commonWith' | 'head'>;
  readonly journal: CommitJournal;
  readonly read: ReadStates;
  readonly write: CommitWriter['writeAnyway'];
}

const commitsMax = 200;

/**
 * Checks whether Redis was set back since the commits that this or another process has made, and restores the
 * lost ones; returns null if none were lost. Commits that this process remembers are made again, recorded at
 * `at` (ms, Redis's clock). The sequence of every other filing is raised to one that may have been delivered,
 * so that its next event has a greater one. So is the sequence of a commit that a crash left announced but
 * not noted: it may have been made, delivered and lost. After a crash in the middle, other processes restore
 * the commits that they know.
 */
export async function restoreCommits(
  deps: RestoreDeps,
  account: string,
  generation: string,
  at: number,
): Promise<Restoration | null> {
  const { log, journal } = deps;
  const { common, announced } = await compareWithKnown(deps, account, generation);
  if (common === null && announced.length === 0) return null;
  const uncertain = [...announced];
  let restored = 0;
  if (common !== null) {
    const known = [account, generation, common.position] as const;
    uncertain.unshift(...(await journal.keptBehind(...known)), ...journal.othersBehind(...known));
    for (const { commits } of journal.ownBehind(...known)) {
      // In the order in which they were made.
      const { open, collided } = await stillMissing(deps, account, commits);
      restored += await deps.write(account, generation, open, at);
      uncertain.push(...collided);
    }
  }
  const restated = await restate(deps, account, generation, uncertain);
  // Announced and written after all.
  if (common === null && restated.length === 0) return null;
  await journal.beginAt(await log.head(account), account, generation, at);
  return { account, restored, restated };
}

/**
 * The newest position that the log shares with the known commits, or null if it has all of them, and the
 * events of commits that were announced and perhaps not made.
 */
async function compareWithKnown(
  { log, journal }: RestoreDeps,
  account: string,
  generation: string,
): Promise<{ common: Checkpoint | null; announced: readonly PublishedEvent[] }> {
  const partedFrom = async (checkpoint: Checkpoint): Promise<Checkpoint[]> => {
    const common = await log.commonWith(account, checkpoint);
    return common.position < checkpoint.position ? [common] : [];
  };
  const seen = journal.newest(account, generation);
  const [ofSeen, { heads, announced }] = await Promise.all([
    seen === null ? [] : partedFrom(seen),
    journal.newestKept(account, generation),
  ]);
  const others = heads.filter((head) => seen === null || !isSameCheckpoint(head, seen));
  const parted = [...ofSeen, ...(await Promise.all(others.map(partedFrom))).flat()];
  return { common: parted.toSorted((a, b) => a.position - b.position)[0] ?? null, announced };
}

// Splits lost commits into those to be made again and those whose sequence another process has meanwhile
// given to another event.
async function stillMissing(
  { read }: RestoreDeps,
  account: string,
  commits: readonly FilingCommit[],
): Promise<{ open: FilingCommit[]; collided: PublishedEvent[] }> {
  const states = await read(
    account,
    commits.map(({ id }) => id),
  );
  const open: FilingCommit[] = [];
  const collided: PublishedEvent[] = [];
  commits.forEach((commit, i) => {
    const { id, next } = commit;
    const stored = states[i] ?? null;
    const { sequence = 0 } = stored?.state ?? {};
    if (sequence < next.sequence) open.push({ ...commit, previous: stored });
    else if (sequence === next.sequence && !showsTheSame(stored?.state ?? next, next))
      collided.push({ filingId: id, sequence, status: '' });
  });
  return { open, collided };
}

// Raises the sequences of filings to those of events that may have been delivered, and makes the next read of
// each lead to an event in any case. Returns the ids of these filings; states that are beyond their event, or
// show it, stay as they are.
async function restate(
  deps: Pick<RestoreDeps, 'read' | 'write'>,
  account: string,
  generation: string,
  events: readonly PublishedEvent[],
): Promise<string[]> {
  const last = new Map<string, PublishedEvent>();
  for (const event of events) {
    const known = last.get(event.filingId);
    if (known === undefined || known.sequence <= event.sequence) last.set(event.filingId, event);
  }
  const restated: string[] = [];
  const all = [...last.values()];
  for (let from = 0; from < all.length; from += commitsMax) {
    const some = all.slice(from, from + commitsMax);
    // Short scripts, one after the other.
    const states = await deps.read(
      account,
      some.map(({ filingId }) => filingId),
    );
    const commits = some.flatMap((event, i) => restating(event, states[i] ?? null) ?? []);
    // States alone are written, so that no time is needed.
    await deps.write(account, generation, commits, 0);
    restated.push(...commits.map(({ id }) => id));
  }
  return restated;
}

// A state beyond the event is delivered with a greater sequence anyway.
function restating(event: PublishedEvent, stored: StoredState | null): FilingCommit | null {
  const { sequence = 0, status = '' } = stored?.state ?? {};
  if (sequence > event.sequence || (sequence === event.sequence && status === event.status)) return null;
  const known = stored?.state ?? null;
  const state = known === null ? unseen(event) : { ...known, ...stayMarks(known) };
  const next = { ...state, sequence: Math.max(state.sequence, event.sequence), restate: true };
  return { id: event.filingId, previous: stored, next, details: 'kept', event: null };
}

// A filing that Redis has lost counts as removed until it is seen again.
function unseen({ status, sequence }: PublishedEvent): FilingState {
  const times = { since: 0, readFrom: 0, readAt: 0 };
  return { status, completedAt: null, rejectionReason: null, sequence, ...times, removed: true };
}
