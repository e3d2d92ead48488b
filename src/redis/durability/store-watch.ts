import { randomUUID } from 'node:crypto';
import type { RedisClient } from '../connection/connect.ts';
import type { Keys } from '../keys.ts';

/**
 * Notices that the store was emptied while the daemon runs (FLUSHALL, a replica without data, a restored
 * empty disk). The finding stays until this process is started again, by which the operator decides to begin
 * anew.
 */
export type StoreWatch = ReturnType<typeof createStoreWatch>;

/** The store is of a format that this version neither reads nor writes. */
export class StoreFormatError extends Error {
  override readonly name = 'StoreFormatError';

  constructor(found: number) {
    super(
      `the store is of format ${found}, this version reads and writes format ${storeFormat}: run the ` +
        `${found > storeFormat ? 'newer' : 'older'} filing-webhooks, or give this one another REDIS_PREFIX`,
    );
  }
}

// The format of all keys below the prefix; raised when a version cannot read what the one before it wrote.
const storeFormat = 1;

const emptied =
  'The store was emptied or replaced under the running daemon. Nothing is polled, delivered or changed. Restore the ' +
  'Redis data and restart, or restart on the empty store to begin anew with a silent baseline.';

/** A watch over one key that only an emptied store can lack. */
export function createStoreWatch(redis: RedisClient, keys: Keys) {
  let id: string | null = null;
  let lost = false;
  let checkedAt = -Infinity;

  return {
    /**
     * Remembers the store as it is, marking it when it is new. Returns whether it was new. Rejects with
     * StoreFormatError, with nothing written, when another version has laid it out in another way.
     */
    async begin(): Promise<{ fresh: boolean }> {
      const fresh = (await redis.setnx(keys.store, `${storeFormat} ${randomUUID()}`)) === 1;
      const mark = (await redis.get(keys.store)) ?? '';
      const format = formatOf(mark);
      if (format !== storeFormat) throw new StoreFormatError(format);
      id = mark;
      return { fresh };
    },
    /** Checks again, unless it did so within the last `ageMs` milliseconds. Rejects if Redis does. */
    async check(ageMs = 0): Promise<void> {
      const now = performance.now();
      if (lost || id === null || now - checkedAt < ageMs) return;
      lost = (await redis.get(keys.store)) !== id;
      checkedAt = now;
    },
    /** The problem that the last check found and what to do about it, or null if there is none. */
    problem: () => (lost ? emptied : null),
  };
}

// A mark without a number is none of the daemon's: 0.
function formatOf(mark: string): number {
  return Number(/^(\d+) /.exec(mark)?.[1] ?? 0);
}
