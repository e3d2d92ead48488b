import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import { notBefore } from '../beliefs/not-before.ts';
import { missedByFailure, type MissedRead } from '../beliefs/missed-reads.ts';
import type { PollRunInput } from './poll-reads.ts';
import type { PollingStore } from '../store/polling-store.ts';

/** Keeps the missedReads of one poll, in memory and in the store. */
export interface MissedRecord {
  remember(id: string, missed: MissedRead): Promise<void>;
  forget(ids: readonly string[]): Promise<void>;
  /**
   * Takes note of records that cannot be read, by id or digest: those of known filings are to be read by
   * themselves.
   */
  rememberUnreadable(names: readonly string[]): Promise<void>;
  /** Number of known filings that answered 404 when last asked for. */
  gone(): number;
}

export interface MissedRecordDeps {
  readonly snapshot: Pick<SnapshotStore, 'read'>;
  readonly polling: Pick<PollingStore, 'setMissedRead' | 'clearMissedRead'>;
  readonly now: () => number;
  readonly input: PollRunInput;
}

// Maximum number of records of one page that are looked up.
const namesMax = 100;

/** The record of one poll, over the missedReads that it was given. */
export function createMissedRecord({ snapshot, polling, now, input }: MissedRecordDeps): MissedRecord {
  const { marks, missedReads } = input;
  const { account, pollIntervalMs } = input.account;

  async function remember(id: string, missed: MissedRead): Promise<void> {
    missedReads.set(id, missed);
    await polling.setMissedRead(account, marks.generation, id, missed);
  }

  return {
    remember,
    async forget(ids) {
      const missed = ids.flatMap((id) => {
        const missed = missedReads.get(id);
        return missedReads.delete(id) && missed !== undefined ? [{ id, missed }] : [];
      });
      await allEnded(missed.map(({ id, missed }) => polling.clearMissedRead(account, id, missed)));
    },
    // A known filing whose record cannot be read is on the list, but nothing is known of it from then on.
    async rememberUnreadable(names) {
      const strange = names.filter((name) => !missedReads.has(name)).slice(0, namesMax);
      const states = await snapshot.read(account, strange);
      const noted = strange.map(async (name, i) => {
        const state = states[i]?.known ?? null;
        if (state === null) return;
        const until = notBefore(marks, undefined, state, null);
        await remember(name, missedByFailure(undefined, now(), until, pollIntervalMs));
      });
      await allEnded(noted);
    },
    gone: () => [...missedReads.values()].filter(({ gone }) => gone).length,
  };
}
