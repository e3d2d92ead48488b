import { createBoundedMap } from '../memory/bounded-map.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import { pairsOf } from '../redis/hash-fields.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';
import type { Account } from './account.ts';

/** An account that may be unsound. */
export interface MaybeUnsound {
  readonly account: string;
  /** As it is noted. */
  readonly soundUntil: string;
}

/** The accounts whose polling may be other than `ok`. */
export type UnsoundAccounts = ReturnType<typeof createUnsoundAccounts>;

// Maximum number of accounts whose last note is remembered; others are noted each time.
const rememberedMax = 100_000;

// KEYS   1 accounts  2 unsound
// ARGV   1 account  2 the time (ms), 0 = it is not  3 the time that is noted ('' = any)
// Reply  1
const noteScript = defineScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then redis.call('ZREM', KEYS[2], ARGV[1])
elseif ARGV[3] == '' or redis.call('ZSCORE', KEYS[2], ARGV[1]) == ARGV[3] then
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
end
return 1`);

/**
 * The accounts whose polling may be other than `ok`, found without reading the others: notes in one sorted
 * set. Each account is noted with the time until which it is sound as far as its last poll says: so an
 * account that is polled no more is found as well. The reader of a note reads the account too: the note of a
 * crashed process may be older than the account's marks.
 */
export function createUnsoundAccounts(redis: RedisClient, keys: Keys) {
  const { unsound } = keys.accountLists;
  const noted = createBoundedMap<string, number>(rememberedMax);

  /**
   * Notes the time in ms until which an account is sound, 0 if it is not; with `former`, only if the note is
   * still as it was found. Forgets an account that is gone.
   */
  async function note(account: string, soundUntil: number, former?: MaybeUnsound): Promise<void> {
    const values = [account, Math.round(soundUntil), former?.soundUntil ?? ''];
    await noteScript.run(redis, [keys.accounts, unsound], values);
  }

  return {
    /** Up to `limit` accounts; those that are noted as unsound come first, by name. */
    async find(now: number, limit: number): Promise<MaybeUnsound[]> {
      const flat = await redis.zrangebyscore(unsound, '-inf', now, 'WITHSCORES', 'LIMIT', 0, limit);
      return pairsOf(flat).map(([account, soundUntil]) => ({ account, soundUntil }));
    },
    note,
    /**
     * Notes the time as `note`, unless this process has noted it for that incarnation of the account less
     * than `everyMs` milliseconds earlier in that time.
     */
    async noteAgain(
      { account, incarnation }: Pick<Account, 'account' | 'incarnation'>,
      soundUntil: number,
      everyMs: number,
    ): Promise<void> {
      const key = `${account} ${incarnation}`;
      const laterMs = soundUntil - (noted.get(key) ?? 0);
      if (soundUntil > 0 && laterMs >= 0 && laterMs < everyMs) return;
      await note(account, soundUntil);
      noted.set(key, soundUntil);
    },
  };
}
