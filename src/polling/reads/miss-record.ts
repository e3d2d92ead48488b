import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import { knownUntil } from '../beliefs/not-before.ts';
import { missByFailure, type Miss } from '../beliefs/missed-reads.ts';
import type { PollRunInput } from './poll-reads.ts';
import type { PollingStore } from '../store/polling-store.ts';

/** Keeps the misses of one poll, in memory and in the store. */
export interface MissRecord {
  remember(id: string, miss: Miss): Promise<void>;
  forget(ids: readonly string[]): Promise<void>;
  /**
   * Takes note of records that cannot be read, by id or digest: those of known filings are to be read by
   * themselves.
   */
  missUnreadable(names: readonly string[]): Promise<void>;
  /** Number of known filings that answered 404 when last asked for. */
  gone(): number;
}

export interface MissRecordDeps {
  readonly snapshot: Pick<SnapshotStore, 'read'>;
  readonly polling: Pick<PollingStore, 'setMiss' | 'clearMiss'>;
  readonly now: () => number;
  readonly input: PollRunInput;
}

// Maximum number of records of one page that are looked up.
const namesMax = 100;

/** The record of one poll, over the misses that it was given. */
export function createMissRecord({ snapshot, polling, now, input }: MissRecordDeps): MissRecord {
  const { marks, misses } = input;
  const { account, pollIntervalMs } = input.account;

  async function remember(id: string, miss: Miss): Promise<void> {
    misses.set(id, miss);
    await polling.setMiss(account, marks.generation, id, miss);
  }

  return {
    remember,
    async forget(ids) {
      const missed = ids.flatMap((id) => {
        const miss = misses.get(id);
        return misses.delete(id) && miss !== undefined ? [{ id, miss }] : [];
      });
      await allEnded(missed.map(({ id, miss }) => polling.clearMiss(account, id, miss)));
    },
    // A known filing whose record cannot be read is on the list, but nothing is known of it from then on.
    async missUnreadable(names) {
      const strange = names.filter((name) => !misses.has(name)).slice(0, namesMax);
      const states = await snapshot.read(account, strange);
      const noted = strange.map(async (name, i) => {
        const state = states[i]?.known ?? null;
        if (state === null) return;
        const until = knownUntil(marks, undefined, state, null);
        await remember(name, missByFailure(undefined, now(), until, pollIntervalMs));
      });
      await allEnded(noted);
    },
    gone: () => [...misses.values()].filter(({ gone }) => gone).length,
  };
}
