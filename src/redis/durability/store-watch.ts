import { randomUUID } from 'node:crypto';
import type { RedisClient } from '../connection/connect.ts';
import type { Keys } from '../keys.ts';
import { upgradeStore } from './upgrade-store.ts';

/**
 * Notices that the store was emptied while the daemon runs (FLUSHALL, a replica without data, a restored
 * empty disk). The finding stays until this process is started again, by which the operator decides to begin
 * anew.
 */
export interface StoreWatch {
  /**
   * Remembers the store as it is, marking it when it is new and upgrading it when it is older. Returns
   * whether it was new. Rejects with StoreFormatError, with nothing written, when a newer version has laid it
   * out in another way.
   */
  begin(): Promise<{ fresh: boolean }>;
  /** Looks again; rejects when Redis does. */
  check(): Promise<void>;
  /** The problem that the last look found and what to do about it; null without one. */
  problem(): string | null;
}

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
const storeFormat = 2;

const emptied =
  'The store was emptied or replaced under the running daemon. Nothing is polled, delivered or changed. Restore the ' +
  'Redis data and restart, or restart on the empty store to begin anew with a silent baseline.';

/** A watch over one key that only an emptied store can lack. */
export function createStoreWatch(redis: RedisClient, keys: Keys): StoreWatch {
  let id: string | null = null;
  let lost = false;

  // The mark is changed first. Processes of the older version that still run then find their store gone: they
  // stop polling and answering, and cannot be started again.
  async function upgrade(upgraded: string): Promise<void> {
    await redis.set(keys.store, upgraded + upgrading);
    await upgradeStore(redis, keys);
    await redis.set(keys.store, upgraded);
  }

  return {
    async begin() {
      const fresh = (await redis.setnx(keys.store, `${storeFormat} ${randomUUID()}`)) === 1;
      const mark = (await redis.get(keys.store)) ?? '';
      const format = formatOf(mark);
      if (format !== 1 && format !== storeFormat) throw new StoreFormatError(format);
      id = format === 1 ? `${storeFormat} ${mark.replace(/^1 /, '')}` : finished(mark);
      if (format === 1 || mark.endsWith(upgrading)) await upgrade(id);
      return { fresh };
    },
    async check() {
      if (!lost && id !== null) lost = finished((await redis.get(keys.store)) ?? '') !== id;
    },
    problem: () => (lost ? emptied : null),
  };
}

// Ends the mark while a process upgrades the store. Another process that finds it upgrades the store, too:
// the first may have crashed.
const upgrading = ' upgrading';

function finished(mark: string): string {
  return mark.endsWith(upgrading) ? mark.slice(0, -upgrading.length) : mark;
}

// The first stores were marked without a format.
function formatOf(mark: string): number {
  return Number(/^(\d+) /.exec(mark)?.[1] ?? 1);
}
