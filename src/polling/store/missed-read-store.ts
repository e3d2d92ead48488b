import { SnapshotLostError } from '../../filings/commit/commit-writer.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import { setAside, UnreadableRecordError, type OnUnreadable } from '../../redis/unreadable-record.ts';
import {
  decodeMissedRead,
  encodeMissedRead,
  missedByRequest,
  type MissedRead,
} from '../beliefs/missed-reads.ts';

/** Known filings that could not be read, one hash per account. */
export type MissedReadStore = ReturnType<typeof createMissedReadStore>;

// KEYS 1 the marks  2 the missed reads. ARGV generation, id, missed read. Replies 0, with nothing written,
// when the generation is another.
const writeMissedRead = defineScript(`
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1`);

// KEYS 1 the missed reads. ARGV id, missed read.
const dropMissedRead = defineScript(
  `if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end`,
);

/** Missed reads in Redis. */
export function createMissedReadStore(redis: RedisClient, keys: Keys, onUnreadable: OnUnreadable) {
  // A record that cannot be read is replaced by one that has the filing read by itself.
  async function readMissedRead(account: string, key: string, id: string, text: string): Promise<MissedRead> {
    const missed = decodeMissedRead(text);
    if (missed !== null) return missed;
    const doubt = missedByRequest(0);
    const held = await redis.hgetBuffer(key, id);
    const place = { key, field: id, value: encodeMissedRead(doubt) };
    if (held !== null) await setAside(redis, keys.account(account), { ...place, held });
    onUnreadable(account, new UnreadableRecordError(key, id), 'set_aside');
    return doubt;
  }

  return {
    /** All missed reads of an account, by filing id, from `fields` if these were already read. */
    async missedReads(
      account: string,
      fields?: Readonly<Record<string, string>>,
    ): Promise<Map<string, MissedRead>> {
      const key = keys.account(account).missing;
      const missedReads = new Map<string, MissedRead>();
      for (const [id, text] of Object.entries(fields ?? (await redis.hgetall(key))))
        missedReads.set(id, await readMissedRead(account, key, id, text));
      return missedReads;
    },
    /** Rejects with SnapshotLostError when the generation is another. */
    async setMissedRead(account: string, generation: string, id: string, missed: MissedRead) {
      const { polling, missing } = keys.account(account);
      const values = [generation, id, encodeMissedRead(missed)];
      const written = await writeMissedRead.run(redis, [polling, missing], values);
      if (written !== 1) throw new SnapshotLostError(account);
    },
    /** Removes a missed read unless another one of the same filing has replaced it. */
    async clearMissedRead(account: string, id: string, missed: MissedRead) {
      await dropMissedRead.run(redis, [keys.account(account).missing], [id, encodeMissedRead(missed)]);
    },
  };
}

/**
 * Makes the next poll read filings one by one, whatever their status. Rejects with SnapshotLostError when the
 * generation is another.
 */
export async function readAgain(
  { polling, now }: { readonly polling: Pick<MissedReadStore, 'setMissedRead'>; readonly now: () => number },
  account: string,
  generation: string,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) {
    // Few, and after a failover only.
    await polling.setMissedRead(account, generation, id, missedByRequest(now()));
  }
}
