import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { loadScript } from '../redis/scripts.ts';
import { type ReadStates } from './commit/filing-commit.ts';
import { isPlainState, StoredState } from './detection/filing-state.ts';
import type { UnreadableStates } from './repair/unreadable-states.ts';

// Minimum number of ids for the script to be used.
const manyIds = 20;
// Maximum number of ids of one read, which keeps Redis busy; Lua's `unpack` takes no more than 8000.
const idsAtOnceMax = 1_000;

/** Reads states from the hash of an account's filings. */
export function createReadStates(redis: RedisClient, keys: Keys, unreadable: UnreadableStates): ReadStates {
  const readScript = loadScript(new URL('read-states.lua', import.meta.url));

  // One argument and one reply replace hundreds, on which a client spends more time than Redis does.
  async function readAtOnce(key: string, ids: readonly string[]): Promise<(string | null)[]> {
    if (ids.length < manyIds || ids.some((id) => id.includes('\n'))) return redis.hmget(key, ...ids);
    const reply = (await readScript.run(redis, [key], [`${ids.join('\n')}\n`])) as string;
    const texts = reply.slice(0, -1).split('\n');
    // A text that is not a state has several lines.
    if (texts.length !== ids.length) return redis.hmget(key, ...ids);
    return texts.map((text) => (text === '' ? null : text));
  }

  return async (account, ids) => {
    const key = keys.account(account).filings;
    const states: (StoredState | null)[] = [];
    for (let from = 0; from < ids.length; from += idsAtOnceMax)
      for (const text of await readAtOnce(key, ids.slice(from, from + idsAtOnceMax))) {
        const id = ids[states.length] ?? '';
        // True for nearly all states.
        const isFine = text === null || isPlainState(text);
        const readable = isFine ? text : await unreadable.toReadable(account, id, text);
        states.push(readable === null ? null : new StoredState(readable));
      }
    return states;
  };
}
