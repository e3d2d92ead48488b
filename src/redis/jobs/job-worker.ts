import { createRedisBackend, type Job, type Worker } from 'bullmq';
import type { RedisClient } from '../connection/connect.ts';
import { createMarkerWait } from './marker-wait.ts';
import { openBeside } from '../connection/open-client.ts';
import { PromptWorker } from './prompt-worker.ts';

/** The options of a worker. */
export interface JobWorkerOptions<Data> {
  readonly queue: string;
  /** For scripts. The worker waits for jobs over a client with the same options. */
  readonly connection: RedisClient;
  readonly prefix: string;
  readonly concurrency: number;
  /** Milliseconds after which a job whose worker is gone may be taken up again. */
  readonly lockMs: number;
  /** Milliseconds between looks for such jobs. */
  readonly stalledMs: number;
  readonly process: (job: Job<Data>, token: string | undefined) => Promise<void>;
}

// Milliseconds of pause after a lost connection. BullMQ's default of 15 s would be added to each failover.
const retryMs = 1_000;

/**
 * Starts a BullMQ worker that goes on within seconds after any connection has failed or fallen silent. Jobs
 * may be taken up again as often as need be. BullMQ's own blocking connection is left out: it is disconnected
 * and connected again when a read is late, and in a cluster that connects only at the second attempt it waits
 * for ever for the first.
 */
export function createJobWorker<Data>(options: JobWorkerOptions<Data>): Worker<Data> {
  const { connection, prefix, concurrency, lockMs, stalledMs } = options;
  const settings = {
    connection,
    prefix,
    concurrency,
    lockDuration: lockMs,
    stalledInterval: stalledMs,
    maxStalledCount: 1_000_000,
    runRetryDelay: retryMs,
  };
  return new PromptWorker<Data>(options.queue, options.process, settings, (name, opts) => {
    const backend = createRedisBackend(name, opts);
    const markers = createMarkerWait(() => openBeside(connection, backend.clientName()));
    return Object.assign(backend, {
      waitForJob: (seconds: number) => markers.wait(backend.keys['marker'] ?? '', seconds),
      disconnectBlocking: async () => markers.stop(),
    });
  });
}
