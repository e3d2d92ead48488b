import type { FilingState } from '../../filings/detection/filing-state.ts';
import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import { isUnreadable } from '../../redis/unreadable-record.ts';
import { createIdSet, type IdSet } from '../list/id-set.ts';

/**
 * The known filings that are not in `seen`, removed ones left out: how many there are, and up to `max` of
 * them, each set of that size with the same odds, so that over the polls all get their turn.
 */
export async function sampleUnseen(
  snapshot: SnapshotStore,
  account: string,
  seen: IdSet,
  max: number,
  random: () => number,
): Promise<{ readonly count: number; readonly sample: readonly string[] }> {
  // A scan may name an id twice.
  const met = createIdSet();
  const sample: string[] = [];
  for await (const chunk of snapshot.scan(account)) {
    for (const [id, state] of chunk) {
      if (seen.has(id) || isLeftAlone(state) || !met.add(id)) continue;
      const slot = met.size <= max ? met.size - 1 : Math.floor(random() * met.size);
      if (slot < max) sample[slot] = id;
    }
  }
  return { count: met.size, sample };
}

// What cannot be read is rebuilt when it is asked for.
function isLeftAlone(state: () => FilingState): boolean {
  try {
    return state().removed;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return error.name === 'NewerFormatError';
  }
}
