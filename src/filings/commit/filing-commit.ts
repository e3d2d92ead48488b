import { bodiesAtOnceMax } from '../../events/event-log.ts';
import { isIndexed } from '../../partner/filing-statuses.ts';
import type { FilingCommit } from '../detection/decide-commit.ts';
import { newestRank } from '../detection/newest.ts';
import { encodeState, type FilingState, type StoredState } from '../detection/filing-state.ts';

/**
 * States of filings in the order of their ids; null for filings never seen. Takes a round trip per thousand
 * ids, each of them atomic. A state that cannot be read is rebuilt first, see `recoverState`. A state of a
 * newer format stays as it is, and throws when it is decoded.
 */
export type ReadStates = (account: string, ids: readonly string[]) => Promise<(StoredState | null)[]>;

/** The outcome of one commit. */
export type CommitResult =
  /** `position` is that of the event in the log; null without one. */
  | { readonly kind: 'written'; readonly position: number | null }
  /** Another process wrote first: read the state again and decide again. */
  | { readonly kind: 'conflict' }
  /** The baseline was completed meanwhile: a filing never seen is announced now. */
  | { readonly kind: 'baselined' };

// Maximum commits of one script.
const commitsAtOnceMax = 200;

/** Splits commits, in their order, into batches that one script may write: it copies their bodies. */
export function* inBatches(commits: readonly FilingCommit[]): Generator<readonly FilingCommit[]> {
  let batch: FilingCommit[] = [];
  let bytes = 0;
  for (const commit of commits) {
    const more = commit.event?.body.length ?? 0;
    if (batch.length > 0 && (bytes + more > bodiesAtOnceMax || batch.length === commitsAtOnceMax)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(commit);
    bytes += more;
  }
  if (batch.length > 0) yield batch;
}

/** A commit as commit-changes.lua takes it, recorded at a time (ms). */
export function commitArguments({ id, previous, next, details, event }: FilingCommit, at: number): string[] {
  const before = previous?.state ?? null;
  return [
    id,
    previous?.text ?? '',
    encodeState(next),
    indexStatus(before),
    indexStatus(next),
    details === null ? '' : details === 'kept' ? '=' : JSON.stringify(details),
    event?.id ?? '',
    event?.type ?? '',
    event?.state ?? '',
    String(at),
    event?.body ?? '',
    before === null ? '' : placeByAge(before),
    placeByAge(next),
    event?.status ?? '',
  ];
}

// A filing's member of the order by age, up to its id; '' where it has none.
function placeByAge(state: FilingState): string {
  const status = indexStatus(state);
  return status === '' || !isIndexed(status) ? '' : `${status}\0${newestRank(state)}`;
}

/** Reads what commit-changes.lua replied for a commit. */
export function toResult(position: number): CommitResult {
  if (position === -1) return { kind: 'conflict' };
  if (position === -2) return { kind: 'baselined' };
  return { kind: 'written', position: position === 0 ? null : position };
}

// The status under which a filing is counted and indexed; '' for neither, such as a removed filing.
function indexStatus(state: FilingState | null): string {
  return state === null || state.removed ? '' : state.status;
}
