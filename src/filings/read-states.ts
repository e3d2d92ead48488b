import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { StoredState } from './detection/filing-state.ts';
import type { UnreadableStates } from './unreadable-states.ts';

/**
 * States of filings in the order of their ids; null for filings never seen. Takes a round trip per thousand
 * ids, each of them atomic. A state that cannot be read is set aside first, see `UnreadableStates`.
 */
export type ReadStates = (account: string, ids: readonly string[]) => Promise<(StoredState | null)[]>;

// Maximum number of ids of one read, which keeps Redis busy.
const idsAtOnceMax = 1_000;

/** Reads states from the hash of an account's filings. */
export function createReadStates(redis: RedisClient, keys: Keys, unreadable: UnreadableStates): ReadStates {
  return async (account, ids) => {
    const key = keys.account(account).filings;
    const states: (StoredState | null)[] = [];
    for (let from = 0; from < ids.length; from += idsAtOnceMax)
      for (const text of await redis.hmget(key, ...ids.slice(from, from + idsAtOnceMax))) {
        const id = ids[states.length] ?? '';
        const readable = text === null ? null : await unreadable.toReadable(account, id, text);
        states.push(readable === null ? null : new StoredState(readable));
      }
    return states;
  };
}
