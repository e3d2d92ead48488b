import { Queue } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';

/** Data of the jobs in the queue `drain`: ids only, the truth is in the log and the cursors. */
export interface DrainJob {
  readonly account: string;
  readonly subscription: string;
}

/**
 * Wakes subscriptions. A wake-up during a drain causes one more drain after it and never two at once (BullMQ
 * deduplication). A lost wake-up costs a delay until the next poll, never an event.
 */
export interface DrainQueue {
  wake(account: string, subscriptions: readonly string[]): Promise<void>;
  /** Wakes one in `delayMs` from now. */
  wakeIn(account: string, subscription: string, delayMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Name of the queue, for its worker. */
export const drainQueueName = 'drain';

const retryForEver = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

/** The queue's writing end. */
export function createDrainQueue(
  connection: RedisClient,
  prefix: string,
  onError: (error: Error) => void,
): DrainQueue {
  const queue = new Queue<DrainJob>(drainQueueName, {
    connection,
    prefix,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  queue.on('error', onError);
  return {
    async wake(account, subscriptions) {
      const jobs = subscriptions.map((subscription) => ({
        name: 'drain',
        data: { account, subscription },
        opts: {
          ...retryForEver,
          deduplication: { id: `${account}.${subscription}`, keepLastIfActive: true },
        },
      }));
      if (jobs.length > 0) await queue.addBulk(jobs);
    },
    async wakeIn(account, subscription, delayMs) {
      await queue.add(
        'wake',
        { account, subscription },
        { ...retryForEver, delay: Math.max(0, Math.ceil(delayMs)) },
      );
    },
    close: () => queue.close(),
  };
}
