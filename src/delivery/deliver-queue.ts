import type { RedisClient } from '../redis/connection/connect.ts';
import { openQueue, releaseLostJobs } from '../redis/jobs/job-queue.ts';

/** Data of the jobs in the queue `deliver`: only a name, because the log and the cursors hold the truth. */
export interface DeliverJob {
  readonly account: string;
  /** When a delayed wake-up is due, milliseconds on Redis's clock; missing in immediate ones. */
  readonly at?: number;
}

/**
 * Wakes accounts, one job for each. A wake-up during a run causes one more run after it and never two at
 * once (BullMQ deduplication). A lost wake-up costs no event, only a delay until the account's next poll.
 */
export type DeliverQueue = ReturnType<typeof createDeliverQueue>;

/** Name of the queue, for its worker. */
export const deliverQueueName = 'deliver';

const retryForEver = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

/** The queue's writing end; `prefix` is BullMQ's. */
export function createDeliverQueue(connection: RedisClient, prefix: string, onError: (error: Error) => void) {
  const jobs = openQueue<DeliverJob>(deliverQueueName, connection, prefix, onError);
  const nowId = (account: string) => `now.${account}`;
  const dueId = (account: string) => `due.${account}`;

  return {
    /** BullMQ's queue, for readers. */
    jobs,
    async wake(account: string): Promise<void> {
      const deduplication = { id: nowId(account), keepLastIfActive: true };
      await jobs.add('now', { account }, { ...retryForEver, deduplication });
    },
    /** Wakes an account at a time (milliseconds on Redis's clock), which replaces the time set before. */
    async wakeAt(account: string, at: number, now: number): Promise<void> {
      // One delayed job per account, always the latest; it also follows one that is running.
      const deduplication = { id: dueId(account), replace: true, keepLastIfActive: true };
      const delay = Math.max(0, Math.ceil(at - now));
      await jobs.add('due', { account, at }, { ...retryForEver, delay, deduplication });
    },
    /**
     * Removes wake-ups that were lost half-way and block later ones; returns their number. See
     * `releaseLostJobs`.
     */
    release: (account: string) => releaseLostJobs(jobs, [nowId(account), dueId(account)]),
    close: () => jobs.close(),
  };
}
