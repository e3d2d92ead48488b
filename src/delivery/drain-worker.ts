import { DelayedError, type Job } from 'bullmq';
import type { RedisClient } from '../redis/connection/connect.ts';
import { clockStepMsMin } from '../redis/clock.ts';
import { createJobWorker } from '../redis/jobs/job-worker.ts';
import { nameFailure } from '../redis/store-failure.ts';
import type { DrainResult } from './drain/drain.ts';
import { createFairShare } from './fair-share.ts';
import { drainQueueName, type DrainJob, type DrainQueue } from './drain-queue.ts';

/** Runs drains as the queue calls for them. */
export interface DrainWorker {
  /**
   * Starts no more jobs and lets running drains finish their callbacks in flight. Resolves when they have,
   * which may be never while Redis is away. Events that the process leaves in flight are sent again under the
   * same ids, by the process that drains the subscription next.
   */
  close(): Promise<void>;
}

export interface DrainWorkerDeps {
  readonly connection: RedisClient;
  readonly prefix: string;
  readonly queue: DrainQueue;
  /**
   * Maximum number of drains at once, each with callbacks in flight. One that waits for a slow endpoint
   * counts.
   */
  readonly concurrency: number;
  readonly drain: (
    account: string,
    subscription: string,
    signal: AbortSignal,
    othersWait: () => Promise<boolean>,
  ) => Promise<DrainResult>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /**
   * Receives the worker's own errors and those of failed drains; a failed drain begins again a second later.
   */
  readonly onError: (error: Error) => void;
}

// Milliseconds until a drain that was left to other processes is offered again.
const handOverMs = 100;

/**
 * Starts the worker of the queue `drain`. Its jobs are safe to run again: a killed one is repeated within 9
 * s.
 */
export function createDrainWorker(deps: DrainWorkerDeps): DrainWorker {
  const { queue, concurrency } = deps;
  const stopping = new AbortController();
  let running = 0;
  const share = createFairShare({
    running: () => running,
    look: queue.ofAll,
    now: () => performance.now(),
  });

  async function drain(job: Job<DrainJob>, token: string | undefined): Promise<void> {
    const { account, subscription } = job.data;
    if (share.isForOthers(subscription)) {
      await job.moveToDelayed(Date.now() + handOverMs, token);
      throw new DelayedError();
    }
    let leaves = false;
    const othersWait = async () => {
      leaves ||= await share.mayLeave();
      return leaves || (running >= concurrency && (await queue.waiting()) > 0);
    };
    running += 1;
    try {
      const { wakeAt } = await deps.drain(account, subscription, stopping.signal, othersWait);
      if (wakeAt === null) return;
      const now = deps.now();
      if (wakeAt > now) await queue.wakeAt(account, subscription, wakeAt, now);
      else await queue.wake(account, [subscription]);
    } finally {
      if (leaves) share.left(subscription);
      running -= 1;
    }
  }

  // BullMQ uses the clocks of the processes. A wake-up that comes too early by such a clock is left to the
  // account's next poll, because it might come too early again and again.
  async function wake({ account, subscription, at = 0 }: DrainJob): Promise<void> {
    if (at <= deps.now() + clockStepMsMin) await queue.wake(account, [subscription]);
  }

  const worker = createJobWorker<DrainJob>({
    queue: drainQueueName,
    connection: deps.connection,
    prefix: deps.prefix,
    concurrency,
    lockMs: 6_000,
    stalledMs: 3_000,
    process: (job, token) => (job.name === 'wake' ? wake(job.data) : drain(job, token)),
  });
  worker.on('error', deps.onError);
  worker.on('failed', (job, error) => {
    deps.onError(nameFailure(`drain of ${job?.data.account} ${job?.data.subscription}`, error));
  });
  return {
    async close() {
      stopping.abort();
      await worker.close();
    },
  };
}
