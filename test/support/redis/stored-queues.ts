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

/** The schedules of the accounts' polls as BullMQ stores them, in the first shard of the queues. */
export function storedSchedules(redis: RedisClient, keys: Pick<Keys, 'queues'>) {
  const queue = `${keys.queues}:poll`;
  const schedules = `${queue}:repeat`;
  const scheduleOf = (account: string) => `poll-${account}`;
  const jobOf = (account: string, at: number) => `repeat:${scheduleOf(account)}:${at}`;

  /** When the next poll of an account is due (ms), null if it is not scheduled. */
  async function due(account: string): Promise<number | null> {
    const at = await redis.zscore(schedules, scheduleOf(account));
    return at === null ? null : Number(at);
  }

  /** Says that the next polls of accounts are due at this time (ms), and moves none. */
  async function setDue(at: number, ...accounts: readonly string[]): Promise<void> {
    await redis.zadd(schedules, ...accounts.flatMap((account) => [at, scheduleOf(account)]));
  }

  return {
    due,
    setDue,
    drop: (...accounts: readonly string[]) => redis.zrem(schedules, ...accounts.map(scheduleOf)),
    /** Loses the next poll of an account, which stays scheduled; true unless it was under way. */
    async loseNext(account: string): Promise<boolean> {
      const job = jobOf(account, (await due(account)) ?? 0);
      return (await redis.zrem(`${queue}:delayed`, job)) === 1;
    },
    /** Makes the next poll of an account due so many milliseconds later; true unless it was under way. */
    async delayNext(account: string, ms: number): Promise<boolean> {
      const at = (await due(account)) ?? 0;
      const [former, later] = [jobOf(account, at), jobOf(account, at + ms)];
      const score = Number(await redis.zscore(`${queue}:delayed`, former));
      // BullMQ counts the jobs of a millisecond in the lower twelve bits.
      const moved = await redis.zadd(`${queue}:delayed`, 'XX', 'CH', score + ms * 4_096, former);
      if (moved !== 1) return false;
      await redis.rename(`${queue}:${former}`, `${queue}:${later}`);
      await setDue(at + ms, account);
      return true;
    },
  };
}
