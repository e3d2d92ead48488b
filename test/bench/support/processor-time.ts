import type { RedisClient } from '../../../src/redis/connection/connect.ts';

/** Microseconds of processor time that this process has used, all threads together. */
export function ownMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Microseconds of processor time that this thread has used. */
export function threadMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** Microseconds of processor time that a Redis has used, with all its threads and those that rewrite its AOF. */
export async function redisMicros(redis: RedisClient): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = [...info.matchAll(/^used_cpu_(?:sys|user)(?:_children)?:([\d.]+)/gm)];
  return seconds.reduce((sum, [, value]) => sum + Number(value), 0) * 1_000_000;
}

/** Commands that a Redis has carried out, those of scripts included. */
export async function redisCommands(redis: RedisClient): Promise<number> {
  const info = await redis.info('commandstats');
  return [...info.matchAll(/^cmdstat_[^:]+:calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}
