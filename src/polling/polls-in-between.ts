import { SnapshotLostError } from '../filings/commit/commit-writer.ts';
import type { PollInBetween } from './list/list-scan.ts';
import { readDelta } from './reads/delta.ts';
import type { ReadOutcome } from './reads/full.ts';
import type { PollInput, ReadDeps } from './reads/poll-input.ts';
import { createPollReads, type PollReads } from './reads/poll-reads.ts';
import { isLarge } from './schedule/plan.ts';

export interface PollInBetweenDeps extends ReadDeps {
  readonly largeFrom: number;
  readonly requestsSent: () => number;
}

const never: PollInBetween = { isDue: () => false, pollIfDue: async () => undefined };

/**
 * Makes delta polls during a full read, which takes longer than a poll interval in a large account. A delta
 * poll runs between two pages whenever one is due, at most one at a time. `onRead` receives the result of
 * each and the number of its requests.
 */
export function createPollInBetween(
  deps: PollInBetweenDeps,
  input: Omit<PollInput, 'inBetween'>,
  onRead: (reads: PollReads, read: ReadOutcome, requests: number) => Promise<void>,
): PollInBetween {
  const { account, pollIntervalMs } = input.account;
  // On the monotonic clock, which is never set back.
  let dueAt = performance.now() + pollIntervalMs;
  const isDue = () => performance.now() >= dueAt;

  async function pollDelta(): Promise<void> {
    const counts = await deps.snapshot.counts(account);
    if (!isLarge(counts, deps.largeFrom)) return;
    const startedAt = deps.now();
    const sentBefore = deps.requestsSent();
    const marks = await deps.polling.read(account);
    if (marks.generation !== input.marks.generation) throw new SnapshotLostError(account);
    const missedReads = await deps.polling.missedReads(account);
    const missedBefore = [...missedReads.keys()];
    const known = await deps.snapshot.known(account);
    const own = { ...input, known, marks, missedReads, startedAt, inBetween: never };
    const reads = createPollReads(deps, own);
    const read = await readDelta(reads, deps);
    // A filing that this poll has read is no longer missed by the long poll.
    for (const id of missedBefore) if (!missedReads.has(id)) input.missedReads.delete(id);
    // Null calls for a sweep, which is under way. Without a baseline the long poll reports everything at its
    // end.
    if (read !== null && marks.baselined) await onRead(reads, read, deps.requestsSent() - sentBefore);
  }

  return {
    isDue,
    async pollIfDue() {
      if (!isDue()) return;
      dueAt = Infinity;
      try {
        await pollDelta();
      } finally {
        dueAt = performance.now() + pollIntervalMs;
      }
    },
  };
}
