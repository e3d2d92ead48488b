import type { Queue } from 'bullmq';
import type { RedisClient } from '../redis/connection/connect.ts';
import { releaseLostJobs } from '../redis/jobs/lost-jobs.ts';
import { createShardedQueue } from '../redis/jobs/sharded-queue.ts';
import type { QueueShards } from '../redis/shards/queue-shards.ts';

/** Data of the jobs in the queue `drain`: only ids, because the log and the cursors hold the truth. */
export interface DrainJob {
  readonly account: string;
  readonly subscription: string;
  /** When a delayed wake-up is due, milliseconds on Redis's clock; missing in immediate ones. */
  readonly at?: number;
}

/**
 * Wakes subscriptions. A wake-up during a drain causes one more drain after it and never two at once (BullMQ
 * deduplication). A lost wake-up costs no event, only a delay: until the account's next poll ends, or has
 * gone on for half a minute.
 */
export interface DrainQueue {
  /** The queues themselves, one of each shard, for reading. */
  queues(): readonly [Queue<DrainJob>, ...Queue<DrainJob>[]];
  wake(account: string, subscriptions: readonly string[]): Promise<void>;
  /** Wakes one subscription at a time (milliseconds on Redis's clock), which replaces the time set before. */
  wakeAt(account: string, subscription: string, at: number, now: number): Promise<void>;
  /**
   * Removes wake-ups that were lost half-way and block later ones; returns their number. See
   * `releaseLostJobs`.
   */
  release(account: string, subscriptions: readonly string[]): Promise<number>;
  /**
   * Whether a worker holds a drain of this subscription in a shard; one whose worker is gone is not held.
   */
  isUnderWay(account: string, subscription: string, shard: number): Promise<boolean>;
  /** Number of wake-ups that wait for a worker, in all shards. */
  waiting(): Promise<number>;
  close(): Promise<void>;
}

/** Name of the queue, for its worker. */
export const drainQueueName = 'drain';

const retryForEver = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

// Maximum number of jobs in one transaction: ten thousand would keep Redis busy for half a second.
const wakeUpsAtOnce = 500;

/** The queue's writing end. */
export function createDrainQueue(
  connection: RedisClient,
  shards: QueueShards,
  onError: (error: Error) => void,
): DrainQueue {
  const sharded = createShardedQueue<DrainJob>(drainQueueName, connection, shards, onError);
  return {
    queues: sharded.all,
    async wake(account, subscriptions) {
      const queue = sharded.ofAccount(account);
      for (let from = 0; from < subscriptions.length; from += wakeUpsAtOnce) {
        const part = subscriptions.slice(from, from + wakeUpsAtOnce);
        await queue.addBulk(part.map((subscription) => wakeUp(account, subscription)));
      }
    },
    async wakeAt(account, subscription, at, now) {
      await sharded.ofAccount(account).add(
        'wake',
        { account, subscription, at },
        {
          ...retryForEver,
          delay: Math.max(0, Math.ceil(at - now)),
          // One delayed job per subscription, always the latest; it also follows one that is running.
          deduplication: { id: wakeId(account, subscription), replace: true, keepLastIfActive: true },
        },
      );
    },
    async release(account, subscriptions) {
      const ids = subscriptions.flatMap((id) => [drainId(account, id), wakeId(account, id)]);
      const released = sharded.allOfAccount(account).map((queue) => releaseLostJobs(queue, ids));
      return sum(await Promise.all(released));
    },
    async isUnderWay(account, subscription, shard) {
      const queue = sharded.of(shard);
      const job = await queue.getDeduplicationJobId(drainId(account, subscription));
      return job !== null && (await connection.exists(queue.toKey(`${job}:lock`))) === 1;
    },
    async waiting() {
      return sum(await Promise.all(sharded.all().map((queue) => queue.getWaitingCount())));
    },
    close: sharded.close,
  };
}

function wakeUp(account: string, subscription: string) {
  return {
    name: 'drain',
    data: { account, subscription },
    opts: {
      ...retryForEver,
      deduplication: { id: drainId(account, subscription), keepLastIfActive: true },
    },
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function drainId(account: string, subscription: string): string {
  return `drain.${account}.${subscription}`;
}

function wakeId(account: string, subscription: string): string {
  return `wake.${account}.${subscription}`;
}
