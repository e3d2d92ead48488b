import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import { scanKeys } from '../../../src/redis/scan-keys.ts';

/**
 * Remembers the keys below some bases as they are now and returns what sets them back in one step, as a
 * failover to a replica that has got nothing since does, or a restart without the last writes. Keys elsewhere
 * stay, and so do all connections.
 */
export async function rememberKeys(
  redis: RedisClient,
  ...bases: readonly string[]
): Promise<() => Promise<void>> {
  const keysNow = async () => {
    const found = new Set<string>();
    for (const base of bases)
      // oxlint-disable-next-line no-await-in-loop
      for await (const { keys } of scanKeys(redis, `${base}*`)) for (const key of keys) found.add(key);
    return [...found];
  };
  const kept = await Promise.all(
    (await keysNow()).map(async (key) => ({
      key,
      value: await redis.dumpBuffer(key),
      ttl: await redis.pttl(key),
    })),
  );
  return async () => {
    const transaction = redis.multi();
    for (const key of await keysNow()) transaction.del(key);
    for (const { key, value, ttl } of kept)
      if (value !== null) transaction.restore(key, Math.max(0, ttl), value, 'REPLACE');
    await transaction.exec();
  };
}
