import { setTimeout as delay } from 'node:timers/promises';
import { createRedisBackend, Worker, type Job } from 'bullmq';
import type { RedisClient } from '../connection/connect.ts';
import { openNode } from '../connection/open-client.ts';
import { createMarkerWait } from './marker-wait.ts';

/** How the work of a job ended: it is done, or is done again at a time (ms on this process's clock). */
export type JobEnd = 'done' | { readonly again: number };

/** The options of the worker of a queue. */
export interface JobWorkerOptions<Data> {
  readonly queue: string;
  /** BullMQ's prefix of the queue's keys. */
  readonly prefix: string;
  /** For scripts. The worker waits for jobs over a client with the same options. */
  readonly connection: RedisClient;
  /** Maximum number of jobs under way at once. */
  readonly concurrency: number;
  /** Milliseconds after which a job whose worker is gone may be taken up again. */
  readonly lockMs: number;
  /** Milliseconds between looks for such jobs. */
  readonly stalledMs: number;
  readonly process: (job: Job<Data>) => Promise<JobEnd>;
  readonly onError: (error: Error) => void;
  /** A job has failed; it may be tried again. */
  readonly onFailed: (job: Job<Data>, error: Error) => void;
}

// Milliseconds until a request that failed is made again.
const retryMs = 1_000;
// Maximum number of requests for jobs at once, so that a slow line to Redis does not bound the jobs a second
// by its round trips.
const lookersMax = 16;
// Number of jobs found one after the other from which on more are looked for at once.
const fewJobs = 3;

/**
 * Starts a worker that takes jobs one by one and begins each as soon as it has it. BullMQ's own loop first
 * takes all jobs that it finds; if that takes long, their locks expire before they begin. The worker resumes
 * within seconds after any connection has failed or fallen silent. Jobs may be taken up again as often as
 * necessary.
 */
export function createJobWorker<Data>(options: JobWorkerOptions<Data>) {
  const { connection, concurrency, lockMs, onError } = options;
  const settings = {
    connection,
    prefix: options.prefix,
    lockDuration: lockMs,
    stalledInterval: options.stalledMs,
    maxStalledCount: 1_000_000,
    runRetryDelay: retryMs,
  };
  const markers = createMarkerWait((key) => openNode(connection, key, worker.backend.clientName()));
  const takeMarker = (seconds: number) => markers.wait(worker.keys['marker'] ?? '', seconds);
  const worker = new Worker<Data>(options.queue, null, settings, (name, opts) => {
    return Object.assign(createRedisBackend(name, opts), { waitForJob: takeMarker });
  });
  const underWay = new Map<Job<Data>, Promise<void>>();
  const lookers = new Set<Promise<void>>();
  const stopping = new AbortController();
  let looks = 0;

  /** Adds a looker, unless jobs and lookers take up all places. */
  function look(): void {
    if (stopping.signal.aborted || lookers.size >= lookersMax) return;
    if (underWay.size + lookers.size >= concurrency) return;
    const looker = takeJobs().finally(() => {
      lookers.delete(looker);
      lookOn();
    });
    lookers.add(looker);
  }

  function lookOn(): void {
    if (lookers.size === 0) look();
  }

  // For a looker; one that finds a job takes the job's place.
  const hasPlace = () => underWay.size + lookers.size <= concurrency;

  // Ends when no place is left, or when there is no job and others look too; the last one waits for jobs.
  async function takeJobs(): Promise<void> {
    let found = 0;
    while (!stopping.signal.aborted && hasPlace()) {
      const job = await nextJob();
      if (job === undefined && lookers.size > 1) return;
      found = job === undefined ? 0 : found + 1;
      if (job !== undefined) begin(job);
      // With each job, BullMQ leaves a marker as if there were more. One look is enough for both.
      if (found === 1 && hasPlace()) await takeMarker(2);
      // Two jobs wait now and then; if more do, there may be many.
      if (found > fewJobs) look();
    }
  }

  async function nextJob(): Promise<Job<Data> | undefined> {
    looks += 1;
    try {
      return await worker.getNextJob(`${worker.id}:${looks}`);
    } catch (error) {
      onError(error as Error);
      await delay(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      return undefined;
    }
  }

  function begin(job: Job<Data>): void {
    const run = work(job, options, stopping.signal)
      .then((end) => untilWritten(end, options))
      .finally(() => {
        underWay.delete(job);
        lookOn();
      });
    underWay.set(job, run);
  }

  worker.on('error', onError);
  worker.startStalledCheckTimer().catch(onError);
  void keepLocks(worker, underWay, options);
  look();
  return {
    /**
     * Takes no more jobs, and gives back those that fail from now on; resolves when those under way have
     * ended, which may be never.
     */
    async close(): Promise<void> {
      stopping.abort();
      markers.stop();
      await Promise.all(lookers);
      await Promise.all(underWay.values());
      await worker.close();
    },
  };
}

// Does a job's work. Returns the request that ends the job; a job that fails after `stopping` is given back.
async function work<Data>(
  job: Job<Data>,
  { process, onFailed }: JobWorkerOptions<Data>,
  stopping: AbortSignal,
): Promise<() => Promise<unknown>> {
  const token = tokenOf(job);
  const giveBack = () => job.moveToWait(token);
  if (stopping.aborted) return giveBack;
  try {
    const end = await process(job);
    if (end === 'done') return () => job.moveToCompleted(undefined, token, false);
    return () => job.moveToDelayed(end.again, token);
  } catch (error) {
    if (stopping.aborted) return giveBack;
    onFailed(job, error as Error);
    return () => job.moveToFailed(error as Error, token, false);
  }
}

// Repeats the request that ends a job until Redis has carried it out, or the job is another worker's.
async function untilWritten<Data>(
  end: () => Promise<unknown>,
  { connection, onError }: JobWorkerOptions<Data>,
): Promise<void> {
  for (;;) {
    try {
      await end();
      return;
    } catch (error) {
      onError(error as Error);
      // BullMQ's codes are numbers: the job is no longer this worker's.
      const isLost = typeof (error as { code?: unknown }).code === 'number';
      if (isLost || connection.status === 'end') return;
      await delay(retryMs);
    }
  }
}

// Extends the locks of all jobs but those that are new, until the worker closes.
async function keepLocks<Data>(
  worker: Worker<Data>,
  underWay: ReadonlyMap<Job<Data>, unknown>,
  { lockMs, onError }: JobWorkerOptions<Data>,
): Promise<void> {
  let former: readonly Job<Data>[] = [];
  while (!worker.closing) {
    await delay(lockMs / 3, undefined, { ref: false });
    const jobs = former.filter((job) => underWay.has(job));
    former = [...underWay.keys()];
    if (jobs.length === 0) continue;
    const ids = jobs.map(({ id = '' }) => id);
    await worker.extendJobLocks(ids, jobs.map(tokenOf), lockMs).catch(onError);
  }
}

function tokenOf({ token = '' }: Job): string {
  return token;
}
