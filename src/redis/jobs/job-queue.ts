import { Queue } from 'bullmq';
import type { RedisClient } from '../connection/connect.ts';

/**
 * Options of every job in BullMQ: a finished job is removed, and no stack trace is kept while a job is tried
 * again. By default BullMQ keeps all of them and writes them anew with each attempt.
 */
const leavesNothing = { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 } as const;

/** Opens the writing end of a queue. Errors of its connection go to `onError`. */
export function openQueue<Data>(
  name: string,
  connection: RedisClient,
  prefix: string,
  onError: (error: Error) => void,
): Queue<Data> {
  const queue = new Queue<Data>(name, { connection, prefix, defaultJobOptions: leavesNothing });
  queue.on('error', onError);
  return queue;
}

/** The part of a BullMQ queue that `releaseLostJobs` needs. */
interface DeduplicatingQueue {
  getDeduplicationJobId(id: string): Promise<string | null>;
  getJobState(jobId: string): Promise<string>;
  readonly backend: {
    /** Removes the id only while it is this job's. */
    removeDeduplicationKey(id: string, jobId: string): Promise<number>;
  };
}

/**
 * Frees deduplication ids of jobs that stand in no list of their queue. Such a job never runs, and keeps
 * every other job with its id from being added. Half a transaction that Redis has carried out leaves such
 * jobs. Returns the number of freed ids. The id of a job that ends meanwhile stays with the job that follows
 * it.
 */
export async function releaseLostJobs(queue: DeduplicatingQueue, ids: readonly string[]): Promise<number> {
  async function release(id: string): Promise<number> {
    const job = await queue.getDeduplicationJobId(id);
    if (job === null || (await queue.getJobState(job)) !== 'unknown') return 0;
    return queue.backend.removeDeduplicationKey(id, job);
  }

  const released = await Promise.all(ids.map(release));
  return released.reduce((sum, count) => sum + count, 0);
}

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
