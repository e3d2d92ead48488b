import { Worker } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';
import type { DrainResult } from './drain.ts';
import { drainQueueName, type DrainJob, type DrainQueue } from './drain-queue.ts';

/** Runs drains as the queue calls for them. */
export interface DrainWorker {
  /** Takes no more jobs and lets running drains finish what is in flight; resolves when they have. */
  close(): Promise<void>;
}

export interface DrainWorkerDeps {
  readonly connection: RedisClient;
  readonly prefix: string;
  readonly queue: DrainQueue;
  /** Drains at the same time; each has its own callbacks in flight. */
  readonly concurrency: number;
  readonly drain: (
    account: string,
    subscription: string,
    signal: AbortSignal,
    othersWait: () => boolean,
  ) => Promise<DrainResult>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

/** Starts the worker of the queue `drain`. Its jobs are safe to run again, so a killed one is taken up within seconds. */
export function createDrainWorker(deps: DrainWorkerDeps): DrainWorker {
  const stopping = new AbortController();
  let running = 0;

  async function drain({ account, subscription }: DrainJob): Promise<void> {
    running += 1;
    try {
      const { wakeAt } = await deps.drain(
        account,
        subscription,
        stopping.signal,
        () => running >= deps.concurrency,
      );
      if (wakeAt === null) return;
      const delayMs = wakeAt - deps.now();
      if (delayMs > 0) await deps.queue.wakeIn(account, subscription, delayMs);
      else await deps.queue.wake(account, [subscription]);
    } finally {
      running -= 1;
    }
  }

  const worker = new Worker<DrainJob>(
    drainQueueName,
    (job) =>
      job.name === 'wake' ? deps.queue.wake(job.data.account, [job.data.subscription]) : drain(job.data),
    {
      connection: deps.connection,
      prefix: deps.prefix,
      concurrency: deps.concurrency,
      lockDuration: 10_000,
      stalledInterval: 5_000,
      maxStalledCount: 1_000_000,
    },
  );
  worker.on('error', deps.onError);
  return {
    async close() {
      stopping.abort();
      await worker.close();
    },
  };
}
