import type { RedisClient } from '../connection/connect.ts';

// Maximum milliseconds of a job's lock, and of the pause between two looks for stalled jobs.
const longestMs = 10_000;

/**
 * Makes the expiring keys of a BullMQ queue, all of which begin with `queue`, expire at the intended time.
 * Redis expires keys by its wall clock. If that clock is set back by a day, jobs of an ended process stay
 * locked for that day, and no process looks for them. A process that works on a job extends its lock again
 * and again. Safe to repeat.
 */
export async function shortenExpiries(redis: RedisClient, queue: string): Promise<void> {
  const active = await redis.lrange(`${queue}:active`, 0, -1);
  for (const key of [`${queue}:stalled-check`, ...active.map((id) => `${queue}:${id}:lock`)])
    // A thousand at once would keep Redis from serving other clients.
    if ((await redis.pttl(key)) > longestMs) await redis.pexpire(key, longestMs);
}
