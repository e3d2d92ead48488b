import type { NewEvent } from '../../events/event.ts';
import { withoutPageLinks, type AddPageLink } from '../../events/page-link.ts';
import { bodiesAtOnceMax } from '../../events/event-log.ts';
import { logBeginning, type Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import { filingIndexes, type FilingIndexName } from '../detection/age-rank.ts';
import type { FilingCommit } from '../detection/decide-commit.ts';
import { encodeState, type FilingState } from '../detection/filing-state.ts';
import type { RejectingAccounts } from '../rejecting-accounts.ts';
import type { CommitJournal } from './commit-journal.ts';

/** The outcome of one commit. */
export type CommitResult =
  /** `position` is that of the event in the log, null without one; `joined` the event of a joined commit. */
  | {
      readonly kind: 'written';
      readonly position: number | null;
      readonly joined?: { readonly event: NewEvent; readonly position: number };
    }
  /** Another process wrote first: read the state again and decide again. */
  | { readonly kind: 'conflict' }
  /** The baseline was completed meanwhile: a filing never seen is announced now. */
  | { readonly kind: 'baselined' };

/**
 * The snapshot was emptied or its account removed while another process worked on it. That process's
 * knowledge of the snapshot is void.
 */
export class SnapshotLostError extends Error {
  override readonly name = 'SnapshotLostError';

  constructor(account: string) {
    super(`the snapshot of account ${account} is gone or was begun anew`);
  }
}

/** The result of a write, or null if the snapshot was lost. */
export async function unlessLost<T>(result: Promise<T>): Promise<T | null> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof SnapshotLostError) return null;
    throw error;
  }
}

/** Writes commits to the snapshot and the log, each script atomic, and notes them in the journal. */
export type CommitWriter = ReturnType<typeof createCommitWriter>;

/** A writer over commit-changes.lua. */
export function createCommitWriter(
  redis: RedisClient,
  keys: Keys,
  journal: CommitJournal,
  { announce }: Pick<RejectingAccounts, 'announce'>,
  addPageLink: AddPageLink = withoutPageLinks,
) {
  const script = committing(loadScript(new URL('commit-changes.lua', import.meta.url)));

  const linked = (account: string, commit: FilingCommit): FilingCommit => ({
    ...commit,
    event: commit.event && addPageLink(account, commit.event),
    ...(commit.joined === undefined ? {} : { joined: linked(account, commit.joined) }),
  });

  async function write(
    account: string,
    generation: string,
    batch: readonly FilingCommit[],
    at: number,
    known: Checkpoint,
  ): Promise<CommitResult[] | null> {
    const key = keys.account(account);
    const { filings, details, counts, head, events, bodies, filingEvents, polling, answers, triage } = key;
    const parts = batch.flatMap(partsOf);
    const eventful = parts.filter(({ event }) => event !== null);
    await announce(account, parts);
    if (eventful.length > 0) await journal.announce({ account, generation, commits: eventful });
    const commits = batch.flatMap((commit) => argumentsOf(linked(account, commit), at));
    const reply = (await script.run(
      redis,
      [
        filings,
        details,
        counts,
        head,
        events,
        bodies,
        filingEvents,
        polling,
        answers,
        triage,
        ...indexNames.map((name) => key[name]),
      ],
      [generation, known.position, known.timeline, ...commits],
    )) as [number[], number, string] | 0 | null;
    if (reply === null) throw new SnapshotLostError(account);
    if (reply === 0) return null;
    const [positions, position, timeline] = reply;
    const recorded = parts.filter((_, i) => (positions[i] ?? 0) > 0);
    const noted = { account, generation, head: { position, timeline }, at, commits: recorded };
    // Even if nothing was written: the announced commits are decided now.
    if (eventful.length > 0) await journal.note(noted);
    return batch.map((commit) => toResult(commit, positions.splice(0, partsOf(commit).length)));
  }

  return {
    /**
     * Writes one batch. Null, with nothing written, when the log is not the one from which `known` was taken.
     * Rejects with SnapshotLostError, with nothing written, when the snapshot is of another generation.
     */
    write,
    /** Writes commits without a check of the log; returns the number written. Rejects as `write`. */
    async writeAnyway(
      account: string,
      generation: string,
      commits: readonly FilingCommit[],
      at: number,
    ): Promise<number> {
      let written = 0;
      for (const batch of inBatches(commits)) {
        const results = await write(account, generation, batch, at, logBeginning);
        written += (results ?? []).filter(({ kind }) => kind === 'written').length;
      }
      return written;
    },
  };
}

const indexNames = Object.keys(filingIndexes) as FilingIndexName[];

// Maximum commits of one script.
const commitsAtOnceMax = 200;

/**
 * Splits commits, in their order, into batches that one script may write: it copies their bodies. A filing
 * comes in a later batch than the rejections before it that it may answer.
 */
export function* inBatches(commits: readonly FilingCommit[]): Generator<readonly FilingCommit[]> {
  let batch: FilingCommit[] = [];
  let bytes = 0;
  let rejected = new Set<string>();
  for (const commit of commits) {
    const more = commit.event?.body.length ?? 0;
    const isFull = bytes + more > bodiesAtOnceMax || batch.length === commitsAtOnceMax;
    if (batch.length > 0 && (isFull || rejected.has(commit.appearance?.lookAlike ?? ''))) {
      yield batch;
      [batch, bytes, rejected] = [[], 0, new Set()];
    }
    batch.push(commit);
    bytes += more;
    if (commit.next.lookAlike !== undefined) rejected.add(commit.next.lookAlike);
  }
  if (batch.length > 0) yield batch;
}

// A commit and the one that is joined to it, each by itself.
function partsOf({ joined, ...commit }: FilingCommit): FilingCommit[] {
  return joined === undefined ? [commit] : [commit, joined];
}

/** A commit as commit-changes.lua takes it, and the one that is joined to it, recorded at a time (ms). */
function argumentsOf(commit: FilingCommit, at: number): string[] {
  return partsOf(commit).flatMap((part, i, parts) => partArguments(part, at, i < parts.length - 1));
}

function partArguments(
  { id, previous, next, details, event, triage }: FilingCommit,
  at: number,
  isFirst: boolean,
): string[] {
  const before = previous?.state ?? null;
  return [
    id,
    previous?.text ?? '',
    encodeState(next),
    countedStatus(before),
    countedStatus(next),
    details === null ? '' : details === 'kept' ? '=' : JSON.stringify(details),
    event?.id ?? '',
    event?.type ?? '',
    event?.state ?? '',
    String(at),
    event?.body ?? '',
    event?.status ?? '',
    isFirst ? '1' : '',
    before?.answeredBy ?? '',
    next.answeredBy ?? '',
    triage === undefined ? '=' : triage === null ? '' : JSON.stringify(triage),
    ...indexNames.flatMap((name) => [placeIn(name, before), placeIn(name, next)]),
  ];
}

/** Reads what commit-changes.lua replied for a commit and the one that is joined to it. */
function toResult({ joined }: FilingCommit, [position = -1, second = 0]: readonly number[]): CommitResult {
  if (position === -1) return { kind: 'conflict' };
  if (position === -2) return { kind: 'baselined' };
  const also =
    joined?.event != null && second > 0 ? { joined: { event: joined.event, position: second } } : {};
  return { kind: 'written', position: position === 0 ? null : position, ...also };
}

// The status under which a filing is counted; '' for none, such as a removed filing.
function countedStatus(state: FilingState | null): string {
  return state === null || state.removed ? '' : state.status;
}

function placeIn(index: FilingIndexName, state: FilingState | null): string {
  return state === null ? '' : filingIndexes[index](state);
}
