import type { LogEntry } from './event-log.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { loadScript } from '../redis/scripts.ts';

/** An event in the log without its body and id: what it can be selected by. */
export type OutlinedEntry = Pick<LogEntry, 'position' | 'type' | 'filingId' | 'state' | 'recordedAt'>;

/**
 * Up to `count` entries after a position, oldest first, at a fraction of the cost of reading them. More than
 * 200 are not all of one moment.
 */
export type LogOutline = (account: string, position: number, count: number) => Promise<OutlinedEntry[]>;

const valuesPerEntry = 5;
// Bounds the time that one script keeps Redis busy.
const entriesAtOnceMax = 200;

/** Outlines of the logs in Redis. */
export function createLogOutline(redis: RedisClient, keys: Keys): LogOutline {
  const script = loadScript(new URL('log-outline.lua', import.meta.url));

  async function outlineSome(account: string, position: number, count: number): Promise<OutlinedEntry[]> {
    const flat = (await script.run(redis, [keys.account(account).events], [position, count])) as string[];
    const entries: OutlinedEntry[] = [];
    for (let i = 0; i < flat.length; i += valuesPerEntry) {
      const [at = '', type = '', filingId = '', state = '', recordedAt = ''] = flat.slice(
        i,
        i + valuesPerEntry,
      );
      entries.push({ position: Number(at), type, filingId, state, recordedAt: Number(recordedAt) });
    }
    return entries;
  }

  return async (account, position, count) => {
    const entries: OutlinedEntry[] = [];
    while (entries.length < count) {
      const wanted = Math.min(entriesAtOnceMax, count - entries.length);
      // Each begins where the one before ended.
      // oxlint-disable-next-line no-await-in-loop
      const some = await outlineSome(account, entries.at(-1)?.position ?? position, wanted);
      entries.push(...some);
      if (some.length < wanted) break;
    }
    return entries;
  };
}
