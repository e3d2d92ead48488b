import type { RedisClient } from './connection/connect.ts';
import type { AccountKeys } from './keys.ts';
import { defineScript } from './scripts.ts';

/**
 * What could not be read is kept for people to look at: milliseconds for which it is, and how many records
 * are noted at once of an account.
 */
export const unreadableKept = { forMs: 7 * 24 * 3_600_000, notesMax: 1_000 };
// Maximum bytes of a record that are noted.
const notedBytesMax = 4_096;

// KEYS 1 a key  2 where it goes. ARGV the type that it may have ('' = none), milliseconds for which it is
// kept. Replies 1, or 0 where there was nothing to do.
const asideScript = defineScript(`
local found = redis.call('TYPE', KEYS[1]).ok
if found == 'none' or found == ARGV[1] then return 0 end
redis.call('RENAME', KEYS[1], KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1`);

/**
 * Renames a key of an account, so that it begins anew, to `P:{a}:unreadable:<what>:<time>`, where it is kept
 * for a week; unless it has the type that it should have by now. Atomic. Returns whether it was.
 */
export async function setAside(
  redis: RedisClient,
  { base }: Pick<AccountKeys, 'base'>,
  key: string,
  type: string,
): Promise<boolean> {
  const aside = `${base}:unreadable:${key.slice(base.length + 1)}:${Date.now()}`;
  return (await asideScript.run(redis, [key, aside], [type, unreadableKept.forMs])) === 1;
}

// KEYS 1 a hash  2 the notes. ARGV field, what it held, what it is to hold ('' = nothing), milliseconds and
// number of notes that are kept, bytes of one Replies 1, or 0 when it holds something else by now.
const replaceScript = defineScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if redis.call('TYPE', KEYS[2]).ok ~= 'stream' then redis.call('DEL', KEYS[2]) end
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[5], '*', 'key', KEYS[1], 'field', ARGV[1], 'value', string.sub(ARGV[2], 1, ARGV[6]))
redis.call('PEXPIRE', KEYS[2], ARGV[4])
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 1`);

/**
 * Notes a field that cannot be read in `P:{a}:unreadable`, where it is kept for a week, and puts something
 * else in its place, or removes it with null; unless it holds something else by now. Atomic. `held` are its
 * bytes: as text they may not be the same.
 */
export async function replaceUnreadable(
  redis: RedisClient,
  { unreadable }: Pick<AccountKeys, 'unreadable'>,
  { key, field, held, value }: { key: string; field: string; held: Buffer; value: string | null },
): Promise<boolean> {
  const args = [field, held, value ?? '', unreadableKept.forMs, unreadableKept.notesMax, notedBytesMax];
  return (await replaceScript.run(redis, [key, unreadable], args)) === 1;
}
