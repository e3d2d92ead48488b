import { scanKeys } from '../../../src/redis/scan-keys.ts';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';

/** Everything that Redis stores in keys that begin with these characters, and their names, as one text. */
export async function everyText(redis: RedisClient, beginning = ''): Promise<string> {
  const texts: unknown[] = [];
  for await (const { keys } of scanKeys(redis, `${beginning}*`))
    for (const key of keys) texts.push([key, await valueOf(redis, key)]);
  return JSON.stringify(texts);
}

async function valueOf(redis: RedisClient, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === 'string') return redis.get(key);
  if (type === 'hash') return redis.hgetall(key);
  if (type === 'list') return redis.lrange(key, 0, -1);
  if (type === 'set') return redis.smembers(key);
  if (type === 'zset') return redis.zrange(key, '0', '-1');
  if (type === 'stream') return redis.xrange(key, '-', '+');
  // It has expired.
  if (type === 'none') return null;
  throw new Error(`${key} is a ${type}`);
}
