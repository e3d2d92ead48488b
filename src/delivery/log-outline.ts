import type { LogEntry } from '../events/event-log.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { loadScript } from '../redis/scripts.ts';

/** An event in the log without its body and id: what it can be selected by. */
export type OutlinedEntry = Pick<LogEntry, 'position' | 'type' | 'filingId' | 'state' | 'recordedAt'>;

/** Up to `count` entries after a position, oldest first, at a fraction of the cost of reading them. */
export type LogOutline = (account: string, position: number, count: number) => Promise<OutlinedEntry[]>;

const valuesPerEntry = 5;

/** Outlines of the logs in Redis. */
export function createLogOutline(redis: RedisClient, keys: Keys): LogOutline {
  const script = loadScript(new URL('log-outline.lua', import.meta.url));
  return async (account, position, count) => {
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
  };
}
