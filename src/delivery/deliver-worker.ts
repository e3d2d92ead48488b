import type { RedisClient } from '../redis/connection/connect.ts';
import { clockStepMsMin } from '../redis/clock.ts';
import { createJobWorker } from '../redis/jobs/job-worker.ts';
import { nameFailure } from '../redis/store-failure.ts';
import type { RunResult } from './account/deliverer.ts';
import { deliverQueueName, type DeliverJob, type DeliverQueue } from './deliver-queue.ts';

export interface DeliverWorkerDeps {
  readonly connection: RedisClient;
  /** BullMQ's prefix of the queue. */
  readonly prefix: string;
  readonly queue: Pick<DeliverQueue, 'wake' | 'wakeAt'>;
  /** Maximum number of accounts at once. One that waits for a slow endpoint counts. */
  readonly concurrency: number;
  readonly run: (account: string, signal: AbortSignal) => Promise<RunResult>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /** Receives the worker's own errors and those of failed runs; a failed run begins again a second later. */
  readonly onError: (error: Error) => void;
}

/**
 * Starts the worker of the queue `deliver`, which runs deliverers as the queue calls for them. Its jobs are
 * safe to run again: a killed one is repeated within 9 s.
 */
export function createDeliverWorker(deps: DeliverWorkerDeps) {
  const { queue, now } = deps;
  const stopping = new AbortController();

  async function deliver(account: string): Promise<void> {
    const { wakeAt } = await deps.run(account, stopping.signal);
    if (wakeAt === null) return;
    if (wakeAt > now()) await queue.wakeAt(account, wakeAt, now());
    else await queue.wake(account);
  }

  const worker = createJobWorker<DeliverJob>({
    queue: deliverQueueName,
    connection: deps.connection,
    prefix: deps.prefix,
    concurrency: deps.concurrency,
    lockMs: 6_000,
    stalledMs: 3_000,
    async process({ name, data: { account, at = 0 } }) {
      // BullMQ uses the clocks of the processes. A wake-up that comes too early by such a clock is left to
      // the account's next poll, because it might come too early again and again.
      if (name !== 'due') await deliver(account);
      else if (at <= now() + clockStepMsMin) await queue.wake(account);
      return 'done';
    },
    onError: deps.onError,
    onFailed: (job, error) => deps.onError(nameFailure(`delivery of ${job.data.account}`, error)),
  });
  return {
    /**
     * Starts no more jobs and lets running deliverers finish their callbacks in flight. Resolves when they
     * have, which may be never while Redis is away. Events that the process leaves in flight are sent again
     * under the same ids, by the process that delivers for the account next.
     */
    async close(): Promise<void> {
      stopping.abort();
      await worker.close();
    },
  };
}
