import { Queue } from 'bullmq';
import type { RedisClient } from '../redis/connection/connect.ts';
import { leavesNothing } from '../redis/jobs/job-options.ts';
import { releaseLostJobs } from '../redis/jobs/lost-jobs.ts';

/** Data of the jobs in the queue `drain`: ids only, the truth is in the log and the cursors. */
export interface DrainJob {
  readonly account: string;
  readonly subscription: string;
  /** When a delayed wake-up is due, milliseconds on Redis's clock; missing in those to be done at once. */
  readonly at?: number;
}

/**
 * Wakes subscriptions. A wake-up during a drain causes one more drain after it and never two at once (BullMQ
 * deduplication). A lost wake-up costs a delay until the account's next poll ends, or goes on for half a
 * minute, never an event.
 */
export interface DrainQueue {
  /** The queue itself, for whoever only looks at it. */
  readonly queue: Queue<DrainJob>;
  wake(account: string, subscriptions: readonly string[]): Promise<void>;
  /** Wakes one at a time (milliseconds on Redis's clock), in place of when it was to be woken until now. */
  wakeAt(account: string, subscription: string, at: number, now: number): Promise<void>;
  /**
   * Frees subscriptions whose wake-up was lost half-way and keeps others from being given; returns how many.
   * See `releaseLostJobs`.
   */
  release(account: string, subscriptions: readonly string[]): Promise<number>;
  /** Wake-ups that wait for a worker. */
  waiting(): Promise<number>;
  close(): Promise<void>;
}

/** Name of the queue, for its worker. */
export const drainQueueName = 'drain';

const retryForEver = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

// A bulk is one transaction: ten thousand jobs in one would keep Redis from everybody else for half a second.
const wakeUpsAtOnce = 500;

/** The queue's writing end. */
export function createDrainQueue(
  connection: RedisClient,
  prefix: string,
  onError: (error: Error) => void,
): DrainQueue {
  const queue = new Queue<DrainJob>(drainQueueName, {
    connection,
    prefix,
    defaultJobOptions: leavesNothing,
  });
  queue.on('error', onError);
  return {
    queue,
    async wake(account, subscriptions) {
      for (let from = 0; from < subscriptions.length; from += wakeUpsAtOnce) {
        const part = subscriptions.slice(from, from + wakeUpsAtOnce);
        // One after the other is the point.
        await queue.addBulk(part.map((subscription) => wakeUp(account, subscription)));
      }
    },
    async wakeAt(account, subscription, at, now) {
      await queue.add(
        'wake',
        { account, subscription, at },
        {
          ...retryForEver,
          delay: Math.max(0, Math.ceil(at - now)),
          // One delayed job per subscription, always the latest; one that is being worked on is followed by
          // it.
          deduplication: { id: wakeId(account, subscription), replace: true, keepLastIfActive: true },
        },
      );
    },
    release: (account, subscriptions) =>
      releaseLostJobs(
        queue,
        subscriptions.flatMap((id) => [drainId(account, id), wakeId(account, id)]),
      ),
    waiting: () => queue.getWaitingCount(),
    close: () => queue.close(),
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

function drainId(account: string, subscription: string): string {
  return `drain.${account}.${subscription}`;
}

function wakeId(account: string, subscription: string): string {
  return `wake.${account}.${subscription}`;
}
