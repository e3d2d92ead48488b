import type { RedisClient } from './connection/connect.ts';
import { defineScript } from './scripts.ts';
import { toUnreadable } from './unreadable-record.ts';

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

/** The pairs of a reply in which names and values take turns. */
export function pairsOf(flat: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: flat.length >> 1 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
}

/**
 * The fields of a hash with their values, about `count` at a time; Redis serves other clients in between. A
 * field that comes or goes meanwhile may be missing, and one may come twice.
 */
export async function* scanHash(
  redis: RedisClient,
  key: string,
  count: number,
): AsyncGenerator<[field: string, value: string][]> {
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscan(key, cursor, 'COUNT', count);
    yield pairsOf(flat);
    cursor = next;
  } while (cursor !== '0');
}

/** The same; a key of another type has no fields: the part that works with it reports it. */
export async function* scanReadableHash(...args: Parameters<typeof scanHash>): ReturnType<typeof scanHash> {
  try {
    yield* scanHash(...args);
  } catch (error) {
    if (toUnreadable(error) === null) throw error;
  }
}
