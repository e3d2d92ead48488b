import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';
import type { LogEntry } from './log-entry.ts';

/** An event in the log without its body and id: the fields by which events are selected. */
export type OutlinedEntry = Pick<
  LogEntry,
  'position' | 'type' | 'filingId' | 'state' | 'status' | 'recordedAt'
>;

/**
 * Reads up to `count` entries after a position, oldest first, at a fraction of the cost of reading them
 * whole. Up to 200 are read atomically, more are not.
 */
export type LogOutline = (account: string, position: number, count: number) => Promise<OutlinedEntry[]>;

const valuesPerEntry = 6;
// Maximum number of entries of one script; it bounds the time that the script keeps Redis busy.
const entriesAtOnceMax = 200;

// KEYS   1 the log's entries
// ARGV   the position after which to begin, maximum number of entries
// Reply  position, type, filing, state, recorded at (ms) and status ('' = unknown) of each entry, in one list
const outlineScript = defineScript(`
local outline = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. ARGV[1] .. '-0', '+', 'COUNT', ARGV[2])) do
  local fields, n = entry[2], #outline
  outline[n + 1] = string.match(entry[1], '^%d+')
  outline[n + 2], outline[n + 3], outline[n + 4], outline[n + 5] = fields[4], fields[6], fields[8], fields[10]
  outline[n + 6] = fields[16] or ''
end
return outline`);

/** Outlines of the logs in Redis. */
export function createLogOutline(redis: RedisClient, keys: Keys): LogOutline {
  async function outlineSome(account: string, position: number, count: number): Promise<OutlinedEntry[]> {
    const flat = (await outlineScript.run(
      redis,
      [keys.account(account).events],
      [position, count],
    )) as string[];
    const entries: OutlinedEntry[] = [];
    for (let i = 0; i < flat.length; i += valuesPerEntry) {
      const [at = '', type = '', filingId = '', state = '', recordedAt = '', status = ''] = flat.slice(
        i,
        i + valuesPerEntry,
      );
      entries.push({ position: Number(at), type, filingId, state, status, recordedAt: Number(recordedAt) });
    }
    return entries;
  }

  return async (account, position, count) => {
    const entries: OutlinedEntry[] = [];
    while (entries.length < count) {
      const wanted = Math.min(entriesAtOnceMax, count - entries.length);
      // Each begins where the one before ended.
      const some = await outlineSome(account, entries.at(-1)?.position ?? position, wanted);
      entries.push(...some);
      if (some.length < wanted) break;
    }
    return entries;
  };
}
