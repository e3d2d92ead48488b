import type { RedisClient } from './connection/connect.ts';
import { defineScript } from './scripts.ts';

// KEYS   1 a hash
// ARGV   1 field  2 expected value  3 new value
// Reply  1, or 0 when the field has another value
const script = defineScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1`);

/**
 * Replaces a field of a hash if it still has the value that was read; false when it was changed or removed
 * meanwhile. Atomic.
 */
export async function replaceField(
  redis: RedisClient,
  key: string,
  field: string,
  { expected, value }: { readonly expected: string | Buffer; readonly value: string },
): Promise<boolean> {
  return (await script.run(redis, [key], [field, expected, value])) === 1;
}
