import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';
import { isPlainState, StoredState } from './detection/filing-state.ts';
import type { UnreadableStates } from './unreadable-states.ts';

/**
 * States of filings in the order of their ids; null for filings never seen. Takes a round trip per thousand
 * ids, each of them atomic. A state that cannot be read is rebuilt first, see `recoverState`. A state of a
 * newer format stays as it is, and throws when it is decoded.
 */
export type ReadStates = (account: string, ids: readonly string[]) => Promise<(StoredState | null)[]>;

// Minimum number of ids for the script to be used.
const manyIds = 20;
// Maximum number of ids of one read, which keeps Redis busy; Lua's `unpack` takes no more than 8000.
const idsAtOnceMax = 1_000;

// KEYS   1 filings
// ARGV   1 their ids, each followed by a newline
// Reply  their states in one string, each followed by a newline: '' for a filing never seen, a blank for a
//        state that is empty
const readScript = defineScript(`
local ids, count = {}, 0
for id in string.gmatch(ARGV[1], '[^\\n]+') do
  count = count + 1
  ids[count] = id
end
local states = redis.call('HMGET', KEYS[1], unpack(ids))
for i = 1, count do states[i] = states[i] == '' and ' ' or states[i] or '' end
return table.concat(states, '\\n') .. '\\n'`);

/** Reads states from the hash of an account's filings. */
export function createReadStates(redis: RedisClient, keys: Keys, unreadable: UnreadableStates): ReadStates {
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
