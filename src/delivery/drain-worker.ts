import type { RedisClient } from '../redis/connection/connect.ts';
import { clockStepMsMin } from '../redis/clock.ts';
import { createJobWorker } from '../redis/jobs/job-worker.ts';
import { nameFailure } from '../redis/store-failure.ts';
import type { DrainResult } from './drain/drain.ts';
import { drainQueueName, type DrainJob, type DrainQueue } from './drain-queue.ts';
import { createTurns } from './take-turns.ts';

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

/**
 * Starts the worker of the queue `drain`. Its jobs are safe to run again: a killed one is repeated within 9
 * s.
 */
export function createDrainWorker(deps: DrainWorkerDeps): DrainWorker {
  const { queue, concurrency } = deps;
  const stopping = new AbortController();
  const inTurn = createTurns();
  let running = 0;

  const othersWait = async () => running >= concurrency && (await queue.waiting()) > 0;

  async function drain({ account, subscription }: DrainJob): Promise<void> {
    running += 1;
    try {
      const { wakeAt } = await deps.drain(account, subscription, stopping.signal, othersWait);
      if (wakeAt === null) return;
      const now = deps.now();
      if (wakeAt > now) await queue.wakeAt(account, subscription, wakeAt, now);
      else await queue.wake(account, [subscription]);
    } finally {
      running -= 1;
    }
  }

  // A process that gets too little processor time loses the locks of its jobs, and BullMQ hands them out again
  // before all others. Two drains of a subscription in one process would do all work twice, and the process
  // would fall further behind until nothing else had its turn.
  const drainInTurn = (job: DrainJob) => inTurn(`${job.account} ${job.subscription}`, () => drain(job));

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
    process: ({ name, data }) => (name === 'wake' ? wake(data) : drainInTurn(data)),
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
