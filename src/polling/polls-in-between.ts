import { SnapshotLostError } from '../filings/commit/commit-writer.ts';
import { isLarge } from './schedule/plan.ts';
import { readDelta } from './reads/delta.ts';
import type { ReadDeps, ReadOutcome } from './reads/full.ts';
import { createPollRun, type PollRun, type PollRunDeps, type PollRunInput } from './reads/poll-reads.ts';

/**
 * A full read of a large account takes longer than a poll interval. So that nobody waits for it, a delta poll
 * is made between two of its pages whenever one is due. Asked for the next such interlude, the result is null
 * while none is due or one is under way; called when somebody else has made it meanwhile, it does nothing.
 * `onRead` is told what each has come to, and how many requests it took.
 */
export function createInterludes(
  deps: PollRunDeps & ReadDeps & { readonly largeFrom: number; readonly requestsSent: () => number },
  input: Omit<PollRunInput, 'interlude'>,
  onRead: (run: PollRun, read: ReadOutcome, requests: number) => Promise<void>,
): PollRunInput['interlude'] {
  const { account, pollIntervalMs } = input.account;
  // By the monotonic clock, which nobody sets back.
  let dueAt = performance.now() + pollIntervalMs;

  async function pollDelta(): Promise<void> {
    const counts = await deps.snapshot.counts(account);
    if (!isLarge(counts, deps.largeFrom)) return;
    const startedAt = deps.now();
    const sentBefore = deps.requestsSent();
    const marks = await deps.polling.read(account);
    if (marks.generation !== input.marks.generation) throw new SnapshotLostError(account);
    const misses = await deps.polling.misses(account);
    const missed = [...misses.keys()];
    const known = await deps.snapshot.known(account);
    const run = createPollRun(deps, { ...input, known, marks, misses, startedAt, interlude: () => null });
    const read = await readDelta(run, deps);
    // What is back is not missing to the poll under way either.
    for (const id of missed) if (!misses.has(id)) input.misses.delete(id);
    // Null calls for a sweep, which is what is under way. What polls without a baseline come to is told at
    // their end.
    if (read !== null && marks.baselined) await onRead(run, read, deps.requestsSent() - sentBefore);
  }

  return () => {
    if (performance.now() < dueAt) return null;
    return async () => {
      if (performance.now() < dueAt) return;
      dueAt = Infinity;
      try {
        await pollDelta();
      } finally {
        dueAt = performance.now() + pollIntervalMs;
      }
    };
  };
}
