import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { quotaBytesMax } from '../redis/quota/account-quota.ts';
import { loadScript } from '../redis/scripts.ts';

/** The notes on the filings of an account. Commits write them, together with their events. */
export type TriageStore = ReturnType<typeof createTriageStore>;

/** Maximum number of filings of an account of which something is noted. */
const notedMax = 4_000;

/** Records in one Redis hash per account. */
export function createTriageStore(redis: RedisClient, keys: Keys) {
  const roomScript = loadScript(new URL('make-room.lua', import.meta.url));
  return {
    /** The records of filings as stored, in the order of their ids, each null if there are no notes. */
    read: async (account: string, ids: readonly string[]): Promise<(string | null)[]> =>
      ids.length === 0 ? [] : redis.hmget(keys.account(account).triage, ...ids),
    /**
     * The number of filings, at most `count`, for which an account may store notes for the first time. If
     * there is not enough room, records of filings that are COMPLETED or removed are deleted. Processes that
     * ask at the same time may get the same room.
     */
    async room(account: string, count: number): Promise<number> {
      if (count === 0) return 0;
      const key = keys.account(account);
      const { triage, filings, quota, subscriptions, registrations, tokens, incarnation } = key;
      const used = [triage, filings, quota, subscriptions, registrations, tokens, incarnation];
      return Number(await roomScript.run(redis, used, [count, notedMax, quotaBytesMax]));
    },
  };
}
