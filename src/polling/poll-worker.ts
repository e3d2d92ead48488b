import { Worker } from 'bullmq';
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect.ts';
import { pollQueueName, type PollJob } from './poll-queue.ts';
import type { PollingStore } from './polling-store.ts';

/** Runs polls as their schedulers call for them. */
export interface PollWorker {
  /** Takes no more jobs and breaks off running polls; resolves when they have stopped. */
  close(): Promise<void>;
}

export interface PollWorkerDeps {
  readonly connection: RedisClient;
  readonly prefix: string;
  readonly polling: PollingStore;
  /** Unique to this process, for the lease. */
  readonly holder: string;
  readonly concurrency: number;
  /** Rejects when the poll cannot go on; the next one starts over. */
  readonly poll: (job: PollJob, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: Error) => void;
}

const leaseMs = 8_000;
const leaseWaitMs = 100;

/** Starts the worker of the queue `poll`. A tick that finds the account's former poll still at work is skipped. */
export function createPollWorker(deps: PollWorkerDeps): PollWorker {
  const stopping = new AbortController();

  async function process(job: PollJob, holder: string): Promise<void> {
    while (!(await deps.polling.lease(job.account, holder, leaseMs))) {
      if (!job.asked) return;
      await delay(leaseWaitMs, undefined, { signal: stopping.signal });
    }
    // Losing the lease does no harm: overlapping polls are put in order by their reads' windows.
    const keep = setInterval(() => {
      deps.polling.lease(job.account, holder, leaseMs).catch(deps.onError);
    }, leaseMs / 3);
    try {
      await deps.poll(job, stopping.signal);
    } finally {
      clearInterval(keep);
      await deps.polling.release(job.account, holder);
    }
  }

  const worker = new Worker<PollJob>(
    pollQueueName,
    (job) => process(job.data, `${deps.holder}:${job.id ?? ''}`),
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
