import type { Queue } from 'bullmq';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import type { Keys } from '../../../src/redis/keys.ts';

/** What BullMQ has stored of a queue, for the damages that only Redis or a crash can do to it. */
export function storedQueue(redis: RedisClient, queue: Queue) {
  return {
    /** Loses the places of all jobs that wait; true if there were any. */
    loseAllWaiting: async () => (await redis.del(queue.toKey('wait'))) === 1,
    /** Gives the next job to a worker that does not exist. */
    giveToNobody: () => redis.lmove(queue.toKey('wait'), queue.toKey('active'), 'RIGHT', 'LEFT'),
    /** Has jobs that do not exist keep further ones with these deduplication ids from being added. */
    block: (...ids: readonly string[]) => redis.mset(...ids.flatMap((id) => [markOf(id), 'no job'])),
    /** Puts a hash in the place of what says which job has this deduplication id. */
    spoilBlock: (id: string) => redis.hset(markOf(id), 'of another', 'type'),
    /** Number of these deduplication ids that are taken. */
    blocked: (...ids: readonly string[]) => redis.exists(...ids.map(markOf)),
  };

  function markOf(id: string): string {
    return queue.toKey(`de:${id}`);
  }
}

/** Loses all jobs that wake accounts for delivery, in the first shard of the queues. */
export async function dropDeliveries(redis: RedisClient, keys: Pick<Keys, 'queues'>): Promise<void> {
  await redis.unlink(await redis.keys(`${keys.queues}:deliver:*`));
}

/** The jobs that poll accounts, as BullMQ stores them. */
export function storedSchedules(redis: RedisClient, keys: Pick<Keys, 'queues'>) {
  const delayed = `${keys.queues}:poll:delayed`;
  const jobOf = (account: string) => `poll-${account}`;
  // BullMQ counts the jobs of a millisecond in the lower twelve bits.
  const each = 4_096;

  return {
    /** When the next poll of an account is due (ms), null if it waits for no time. */
    async due(account: string): Promise<number | null> {
      const score = await redis.zscore(delayed, jobOf(account));
      return score === null ? null : Math.floor(Number(score) / each);
    },
    /** Has the next polls of accounts wait until this time (ms). */
    async setDue(at: number, ...accounts: readonly string[]): Promise<void> {
      await redis.zadd(delayed, ...accounts.flatMap((account) => [at * each, jobOf(account)]));
    },
    /** Loses the next polls of accounts, unless they are under way; returns how many. */
    lose: (...accounts: readonly string[]) => redis.zrem(delayed, ...accounts.map(jobOf)),
    /** Makes the next poll of an account due so many milliseconds later; true unless it was under way. */
    async delayNext(account: string, ms: number): Promise<boolean> {
      const score = Number(await redis.zscore(delayed, jobOf(account)));
      return (await redis.zadd(delayed, 'XX', 'CH', score + ms * each, jobOf(account))) === 1;
    },
  };
}
