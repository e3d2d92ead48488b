import type { RedisClient } from '../../redis/connection/connect.ts';
import { createJobWorker, type JobEnd } from '../../redis/jobs/job-worker.ts';
import { nameFailure } from '../../redis/store-failure.ts';
import { nextPollAt, pollQueueName, type PollJob } from './poll-queue.ts';
import type { PollLease } from '../store/lease-store.ts';
import type { PollingStore } from '../store/polling-store.ts';

/** How a job of the queue ended. */
export type PollEnd =
  | 'polled'
  /** Another poll of its mode has the account's lease. */
  | 'leased'
  /** No place for a large read was free. */
  | 'no_place'
  /** There is no such account any more. */
  | 'gone';

/** Makes one poll under a lease. Rejects when it cannot go on; the next one starts over. */
export type Poll = (job: PollJob, signal: AbortSignal, lease?: PollLease) => Promise<PollEnd>;

export interface PollWorkerDeps {
  readonly connection: RedisClient;
  /** BullMQ's prefix of the queue. */
  readonly prefix: string;
  readonly polling: PollingStore;
  /** Unique to this process, for the lease. */
  readonly holder: string;
  /** Maximum number of polls under way at once; they mostly wait for the partner service. */
  readonly concurrency: number;
  readonly poll: Poll;
  /** A job found a poll of its mode of the account at work. */
  readonly onSkipped: () => void;
  readonly onError: (error: Error) => void;
}

interface RunningPoll {
  readonly account: string;
  readonly stop: AbortController;
}

const leaseMs = 5_000;
// Milliseconds. If a job's worker is gone, or never received the reply with the job, the job starts again
// after both at the latest. An early start does no harm.
const lockMs = 5_000;
const stalledMs = 2_000;
const askAgainMs = 250;

/**
 * Starts the worker of the queue `poll`. A tick that finds the account's former poll still at work is
 * skipped.
 */
export function createPollWorker(deps: PollWorkerDeps) {
  const running = new Map<PollLease, RunningPoll>();
  let closing = false;
  let begun = 0;

  // A lost lease does no harm, because the time spans of reads put overlapping polls in order.
  function keepLeases(): void {
    for (const [lease, { account }] of running)
      if (lease.isHeld) deps.polling.lease(account, lease.mode, lease.holder, leaseMs).catch(deps.onError);
  }

  async function process({ data }: { readonly data: PollJob }): Promise<JobEnd> {
    begun += 1;
    const lease = { mode: data.mode, holder: `${deps.holder}:${begun}`, ms: leaseMs, isHeld: false };
    if (data.everyMs !== undefined) return pollAndWait(lease, data, data.everyMs);
    const end = await pollUnder(lease, data);
    // A requested poll comes after the polls under way, and occupies no place until then.
    return end === 'polled' || end === 'gone' || !data.asked ? 'done' : { again: Date.now() + askAgainMs };
  }

  // The schedule goes on behind a poll that failed, too.
  async function pollAndWait(lease: PollLease, job: PollJob, everyMs: number): Promise<JobEnd> {
    try {
      if ((await pollUnder(lease, job)) === 'gone') return 'done';
    } catch (error) {
      if (closing) throw error;
      report(job, error as Error);
    }
    return { again: nextPollAt(job.account, everyMs, Date.now()) };
  }

  function report({ account }: PollJob, error: Error): void {
    deps.onError(nameFailure(`poll of ${account}`, error));
  }

  async function pollUnder(lease: PollLease, job: PollJob): Promise<PollEnd> {
    const { account } = job;
    const { mode, holder } = lease;
    const stop = new AbortController();
    running.set(lease, { account, stop });
    if (closing) stop.abort();
    try {
      const end = await deps.poll(job, stop.signal, lease);
      if (end === 'leased') deps.onSkipped();
      return end;
    } finally {
      running.delete(lease);
      if (lease.isHeld) await deps.polling.release(account, mode, holder);
    }
  }

  const keeping = setInterval(keepLeases, leaseMs / 3);
  const worker = createJobWorker<PollJob>({
    queue: pollQueueName,
    connection: deps.connection,
    prefix: deps.prefix,
    concurrency: deps.concurrency,
    lockMs,
    stalledMs,
    process,
    onError: deps.onError,
    onFailed: ({ data }, error) => report(data, error),
  });
  return {
    /** Starts no more jobs and aborts running polls; resolves when they have stopped. */
    async close() {
      closing = true;
      for (const { stop } of running.values()) stop.abort();
      await worker.close();
      clearInterval(keeping);
    },
  };
}
