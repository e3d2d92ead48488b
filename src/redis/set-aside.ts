import type { RedisClient } from './connection/connect.ts';
import type { AccountKeys } from './keys.ts';
import { defineScript } from './scripts.ts';

/**
 * Milliseconds for which records that could not be read are kept for the operator, and the maximum number of
 * notes of an account.
 */
export const unreadableKept = { forMs: 7 * 24 * 3_600_000, notesMax: 1_000 };
// Maximum bytes of a record that are noted.
const notedBytesMax = 4_096;

// KEYS   1 a key  2 its new name
// ARGV   1 the type that it should have ('' = none)  2 milliseconds for which it is kept
// Reply  1, or 0 where there was nothing to do
const asideScript = defineScript(`
local found = redis.call('TYPE', KEYS[1]).ok
if found == 'none' or found == ARGV[1] then return 0 end
redis.call('RENAME', KEYS[1], KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1`);

/**
 * Renames a key of an account to `P:{a}:unreadable:<what>:<time>`, where it is kept for a week: the key
 * begins anew. False, with nothing done, where the key is missing or has the type that it should have.
 * Atomic.
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

// KEYS   1 a hash  2 the notes
// ARGV   1 field  2 its value as it was read  3 its new value ('' = none)
//        4 milliseconds for which notes are kept  5 number of notes that are kept
//        6 bytes of a value that are noted
// Reply  1, or 0 when the field has another value by now
const replaceScript = defineScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if redis.call('TYPE', KEYS[2]).ok ~= 'stream' then redis.call('DEL', KEYS[2]) end
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[5], '*', 'key', KEYS[1], 'field', ARGV[1], 'value', string.sub(ARGV[2], 1, ARGV[6]))
redis.call('PEXPIRE', KEYS[2], ARGV[4])
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 1`);

/**
 * Notes a field that cannot be read in `P:{a}:unreadable`, where it is kept for a week, and replaces its
 * value, or removes the field with null. False, with nothing done, when the field has another value by now.
 * Atomic. `held` is the value as bytes: as a text it may not be the same.
 */
export async function replaceUnreadable(
  redis: RedisClient,
  { unreadable }: Pick<AccountKeys, 'unreadable'>,
  { key, field, held, value }: { key: string; field: string; held: Buffer; value: string | null },
): Promise<boolean> {
  const args = [field, held, value ?? '', unreadableKept.forMs, unreadableKept.notesMax, notedBytesMax];
  return (await replaceScript.run(redis, [key, unreadable], args)) === 1;
}
