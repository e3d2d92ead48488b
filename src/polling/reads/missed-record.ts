import { allEnded } from '../../waiting/all-ended.ts';
import { isRetryDue, missedByFailure, type MissedRead } from '../beliefs/missed-reads.ts';
import { notBefore } from '../beliefs/not-before.ts';
import type { PollInput, ReadDeps } from './poll-input.ts';

/** The missed reads of one poll, in memory and in the store. */
export type MissedRecord = ReturnType<typeof createMissedRecord>;

// Maximum number of records of one page that are looked up.
const namesMax = 100;

/** The record of one poll, over the missed reads that it was given. */
export function createMissedRecord(
  { snapshot, polling, now }: Pick<ReadDeps, 'snapshot' | 'polling' | 'now'>,
  { account: { account, pollIntervalMs }, marks, missedReads }: PollInput,
) {
  async function remember(id: string, missed: MissedRead): Promise<void> {
    missedReads.set(id, missed);
    await polling.setMissedRead(account, marks.generation, id, missed);
  }

  return {
    get: (id: string): MissedRead | undefined => missedReads.get(id),
    remember,
    async forget(ids: readonly string[]) {
      if (missedReads.size === 0) return;
      const removed = ids.flatMap((id) => {
        const missed = missedReads.get(id);
        return missedReads.delete(id) && missed !== undefined ? [{ id, missed }] : [];
      });
      await allEnded(removed.map(({ id, missed }) => polling.clearMissedRead(account, id, missed)));
    },
    /**
     * Takes note of records that cannot be read, by id or digest: known filings among them are to be read by
     * themselves. They are on the list, but their states are unknown from then on.
     */
    async rememberUnreadable(names: readonly string[]) {
      const unrecorded = names.filter((name) => !missedReads.has(name)).slice(0, namesMax);
      const states = await snapshot.read(account, unrecorded);
      const noted = unrecorded.map(async (name, i) => {
        const state = states[i]?.state ?? null;
        if (state === null) return;
        const until = notBefore(marks, undefined, state, null);
        await remember(name, missedByFailure(undefined, now(), until, pollIntervalMs));
      });
      await allEnded(noted);
    },
    /** Ids of the filings that are to be requested now. */
    due: (): string[] => [...missedReads].filter(([, missed]) => isRetryDue(missed, now())).map(([id]) => id),
    /** Number of known filings that answered 404 when last requested, but not often enough to be removed. */
    gone: (): number => [...missedReads.values()].filter(({ gone }) => gone).length,
    /**
     * Latest time at which a filing is known to have been as stored; null for an unknown or removed filing.
     */
    async notBefore(id: string): Promise<number | null> {
      const [stored] = await snapshot.read(account, [id]);
      const state = stored?.state ?? null;
      if (state === null || (state.removed && state.restate !== true)) return null;
      return notBefore(marks, missedReads.get(id), state, null);
    },
  };
}
