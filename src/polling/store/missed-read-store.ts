import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import { replaceUnreadable } from '../../redis/set-aside.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import { decodeMiss, encodeMiss, missByDoubt, type Miss } from '../beliefs/missed-reads.ts';
import { inGeneration } from './marks-store.ts';

/** Known filings that could not be read, one hash per account. */
export interface MissedReadStore {
  /** All of an account, by the filing's id. */
  misses(account: string): Promise<Map<string, Miss>>;
  /** Rejects with SnapshotLostError when the generation is another. */
  setMiss(account: string, generation: string, id: string, miss: Miss): Promise<void>;
  /** Removes a missed read unless another one of the same filing has replaced it. */
  clearMiss(account: string, id: string, miss: Miss): Promise<void>;
}

// KEYS 1 the marks  2 the missed reads. ARGV generation, id, missed read. Replies 0, with nothing written,
// when the generation is another.
const writeMiss = defineScript(`
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1`);

// KEYS 1 the missed reads. ARGV id, missed read.
const dropMiss = defineScript(
  `if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end`,
);

/** Missed reads in Redis. */
export function createMissedReadStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable,
): MissedReadStore {
  // A record that cannot be read is replaced by one that has the filing read by itself.
  async function readMiss(account: string, key: string, id: string, text: string): Promise<Miss> {
    const miss = decodeMiss(text);
    if (miss !== null) return miss;
    const doubt = missByDoubt(0);
    const held = await redis.hgetBuffer(key, id);
    const place = { key, field: id, value: encodeMiss(doubt) };
    if (held !== null) await replaceUnreadable(redis, keys.account(account), { ...place, held });
    const reason = 'it holds what is not ours';
    onUnreadable({ account, kind: 'missing', key, field: id, reason, remedy: 'rebuilt' });
    return doubt;
  }

  return {
    async misses(account) {
      const key = keys.account(account).missing;
      const fields = await redis.hgetall(key);
      const misses = new Map<string, Miss>();
      for (const [id, text] of Object.entries(fields)) misses.set(id, await readMiss(account, key, id, text));
      return misses;
    },
    async setMiss(account, generation, id, miss) {
      const { polling, missing } = keys.account(account);
      const values = [generation, id, encodeMiss(miss)];
      await inGeneration(account, writeMiss.run(redis, [polling, missing], values));
    },
    async clearMiss(account, id, miss) {
      await dropMiss.run(redis, [keys.account(account).missing], [id, encodeMiss(miss)]);
    },
  };
}

/**
 * Has filings read one by one by the next poll, whatever their status. Rejects with SnapshotLostError when
 * the generation is another.
 */
export async function readAgain(
  { polling, now }: { readonly polling: Pick<MissedReadStore, 'setMiss'>; readonly now: () => number },
  account: string,
  generation: string,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) {
    // Few, and after a failover only.
    // oxlint-disable-next-line no-await-in-loop
    await polling.setMiss(account, generation, id, missByDoubt(now()));
  }
}
