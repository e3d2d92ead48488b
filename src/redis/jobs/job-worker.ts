import { createRedisBackend, type Job } from 'bullmq';
import { Cluster } from 'ioredis';
import type { RedisClient } from '../connection/connect.ts';
import { openNode } from '../connection/open-client.ts';
import type { QueueShards } from './queue-shards.ts';
import { createJobPlaces } from './job-places.ts';
import { createMarkerWait, type MarkerWait } from './marker-wait.ts';
import { PromptWorker } from './prompt-worker.ts';

/** The options of the workers of a queue. */
export interface JobWorkerOptions<Data> {
  readonly queue: string;
  /** For scripts. The workers wait for jobs over clients with the same options. */
  readonly connection: RedisClient;
  readonly shards: QueueShards;
  /** Maximum number of jobs under way at once, over all shards. */
  readonly concurrency: number;
  /** Milliseconds after which a job whose worker is gone may be taken up again. */
  readonly lockMs: number;
  /** Milliseconds between looks for such jobs. */
  readonly stalledMs: number;
  readonly process: (job: Job<Data>, token: string | undefined, shard: number) => Promise<void>;
  readonly onError: (error: Error) => void;
  /** A job has failed; it may be tried again. */
  readonly onFailed: (job: Job<Data> | undefined, error: Error) => void;
}

/** The workers of a queue, one for each shard. */
export interface JobWorker {
  /** Takes no more jobs; resolves when those under way have ended, which may be never. */
  close(): Promise<void>;
}

// Milliseconds of pause after a lost connection. BullMQ's default of 15 s would be added to each failover.
const retryMs = 1_000;

/**
 * Starts a BullMQ worker for each shard. They go on within seconds after any connection has failed or fallen
 * silent. Jobs may be taken up again as often as need be. BullMQ's own blocking connection is left out: it is
 * disconnected and connected again when a read is late, and in a cluster that connects only at the second
 * attempt it waits for ever for the first. One connection waits for the jobs of all shards; in a cluster,
 * where a read names keys of one slot only, it is one for each shard.
 */
export function createJobWorker<Data>(options: JobWorkerOptions<Data>): JobWorker {
  const { connection, shards, concurrency } = options;
  const places = createJobPlaces(concurrency);
  let shared: MarkerWait | null = null;

  const createWait = (name: string) =>
    createMarkerWait({ open: (key) => openNode(connection, key, name), hasPlace: places.hasPlace });

  function start(shard: number): PromptWorker<Data> {
    const settings = {
      connection,
      prefix: shards.prefix(shard),
      concurrency,
      lockDuration: options.lockMs,
      stalledInterval: options.stalledMs,
      maxStalledCount: 1_000_000,
      runRetryDelay: retryMs,
    };
    const run = (job: Job<Data>, token: string | undefined) =>
      places.occupy(() => options.process(job, token, shard));
    const worker = new PromptWorker<Data>(options.queue, run, settings, (name, opts) => {
      const backend = createRedisBackend(name, opts);
      const markers =
        connection instanceof Cluster
          ? createWait(backend.clientName())
          : (shared ??= createWait(backend.clientName()));
      const key = backend.keys['marker'] ?? '';
      return Object.assign(backend, {
        waitForJob: (seconds: number) => markers.wait(key, seconds),
        disconnectBlocking: async () => markers.stop(key),
      });
    });
    worker.share(places);
    worker.on('error', options.onError);
    worker.on('failed', options.onFailed);
    return worker;
  }

  const workers = Array.from({ length: shards.count }, (_, shard) => start(shard));
  return {
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}
