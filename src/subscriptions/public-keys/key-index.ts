import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';

/** A subscription whose public keys are published. */
export interface Signed {
  readonly account: string;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/**
 * Which subscriptions have public keys, over all accounts: receivers ask for keys without naming an account.
 * It holds no key, and nothing is lost with it but the way to a subscription. An entry may outlive its
 * subscription or stand before it, after a crash.
 */
export interface KeyIndex {
  /** Once it resolves, the keys of the subscription are found. */
  add(signed: Signed): Promise<void>;
  /** Removes subscriptions; those that are unknown are passed over. */
  remove(ids: readonly string[]): Promise<void>;
  /** The accounts of subscriptions, in their order; null where one has no public keys. */
  accountsOf(ids: readonly string[]): Promise<(string | null)[]>;
  /** The oldest subscriptions with public keys, at most `limit`. */
  oldest(limit: number): Promise<Signed[]>;
}

// KEYS 1 accounts by subscription, 2 subscriptions by age. ARGV id, account, created at (ms).
const addEntry = defineScript(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1`);

// KEYS as above. ARGV ids.
const removeEntries = defineScript(`
redis.call('HDEL', KEYS[1], unpack(ARGV))
redis.call('ZREM', KEYS[2], unpack(ARGV))
return 1`);

// KEYS as above. ARGV number of subscriptions. Replies [id, created at, account], '' where that is unknown.
const readOldest = defineScript(`
local found = redis.call('ZRANGE', KEYS[2], 0, ARGV[1] - 1, 'WITHSCORES')
local signed = {}
for i = 1, #found, 2 do
  signed[#signed + 1] = { found[i], found[i + 1], redis.call('HGET', KEYS[1], found[i]) or '' }
end
return signed`);

/** The index in Redis. */
export function createKeyIndex(redis: RedisClient, keys: Keys): KeyIndex {
  const { accounts, ages } = keys.signed;
  return {
    async add({ account, id, createdAt }) {
      await addEntry.run(redis, [accounts, ages], [id, account, createdAt]);
    },
    async remove(ids) {
      if (ids.length > 0) await removeEntries.run(redis, [accounts, ages], ids);
    },
    accountsOf: async (ids) => (ids.length === 0 ? [] : redis.hmget(accounts, ...ids)),
    async oldest(limit) {
      const found = (await readOldest.run(redis, [accounts, ages], [limit])) as [string, string, string][];
      return found.flatMap(([id, createdAt, account]) =>
        account === '' ? [] : [{ id, account, createdAt: Number(createdAt) }],
      );
    },
  };
}
