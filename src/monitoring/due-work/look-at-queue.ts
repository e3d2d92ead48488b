import type { RedisClient } from '../../redis/connection/connect.ts';
import type { QueueLook } from './wait.ts';

/** The key of a part of a BullMQ queue, which is one shard of a queue. */
export type QueueKey = (part: string) => string;

// BullMQ keeps the time of a delayed job in the upper bits of its score.
const scorePerMs = 0x1000;

/**
 * Looks at a queue, whose shards have these keys, at a cost that does not depend on its length. `now` is in
 * milliseconds on the wall clock, by which workers promote delayed jobs.
 */
export async function lookAtQueue(
  redis: RedisClient,
  keys: readonly QueueKey[],
  now: () => number,
): Promise<Omit<QueueLook, 'taken'>> {
  const looks = await Promise.all(keys.map((key) => lookAtShard(redis, key, now)));
  return {
    waiting: looks.reduce((sum, { waiting }) => sum + waiting, 0),
    due: looks.some(({ due }) => due),
    paused: looks.some(({ paused }) => paused),
  };
}

async function lookAtShard(
  redis: RedisClient,
  key: QueueKey,
  now: () => number,
): Promise<Omit<QueueLook, 'taken'>> {
  const [first, later, [, firstScore], oldestActive, paused] = await Promise.all([
    redis.llen(key('wait')),
    redis.zcard(key('prioritized')),
    redis.zrange(key('delayed'), '0', '0', 'WITHSCORES'),
    redis.lindex(key('active'), -1),
    redis.hexists(key('meta'), 'paused'),
  ]);
  const isOverdue = firstScore !== undefined && Number(firstScore) / scorePerMs < now();
  const isAbandoned = oldestActive !== null && (await redis.exists(key(`${oldestActive}:lock`))) === 0;
  const waiting = first + later;
  return { waiting, due: waiting > 0 || isOverdue || isAbandoned, paused: paused === 1 };
}
