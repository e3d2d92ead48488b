import type { Queue } from 'bullmq';
import { databaseOf, type RedisClient } from '../connection/open-client.ts';

/** The jobs and workers of a queue. Times are milliseconds on the clocks of the processes. */
export interface QueueState {
  readonly name: string;
  /** No job is taken until the queue is resumed. */
  readonly paused: boolean;
  /** Number of jobs in each state. */
  readonly jobs: Readonly<Record<(typeof jobStates)[number], number>>;
  /** `late`: number of schedulers whose next job should have been taken ten seconds ago. */
  readonly schedulers: { readonly count: number; readonly late: number };
  /** Connections that wait for jobs, in all processes; null where Redis does not list its clients. */
  readonly workers: number | null;
  /**
   * Since when the job that comes next has waited, in milliseconds; null while none waits. Jobs of later
   * turns may have waited longer.
   */
  readonly oldestWaitingAt: number | null;
}

const jobStates = ['waiting', 'active', 'delayed', 'failed'] as const;
// Milliseconds after which a job is late; a killed process's job is taken over after 9 s.
const lateMs = 10_000;

/**
 * Reads the state of a queue without changing it. The cost does not depend on the number of jobs and
 * schedulers. The parts are read one after the other, so a job that moves meanwhile may be in two of them or
 * in none. `now` is in milliseconds on this process's clock.
 */
export async function readQueueState(queue: Queue, redis: RedisClient, now: number): Promise<QueueState> {
  const schedulers = queue.toKey('repeat');
  const [counts, paused, first, workers, count, late] = await Promise.all([
    queue.getJobCounts(...jobStates, 'prioritized'),
    queue.isPaused(),
    Promise.all([queue.getWaiting(0, 0), queue.getPrioritized(0, 0)]),
    countWorkers(queue, redis),
    redis.zcard(schedulers),
    // The score of a scheduler is when its next job is due.
    redis.zcount(schedulers, '-inf', now - lateMs),
  ]);
  const { waiting = 0, prioritized = 0, ...others } = counts;
  const since = first.flat().map(({ timestamp, opts }) => timestamp + (opts.delay ?? 0));
  return {
    name: queue.name,
    paused,
    jobs: { ...noJobs, ...others, waiting: waiting + prioritized },
    schedulers: { count, late },
    workers,
    oldestWaitingAt: since.length === 0 ? null : Math.min(...since),
  };
}

const noJobs = { waiting: 0, active: 0, delayed: 0, failed: 0 };

// Redis lists the clients of all its databases, in which other deployments may have a queue of the same name.
async function countWorkers(queue: Queue, redis: RedisClient): Promise<number | null> {
  try {
    const workers = await queue.getWorkers();
    const own = workers.filter(({ db }) => db === undefined || Number(db) === databaseOf(redis));
    // BullMQ makes up a worker without an address where Redis does not know CLIENT LIST.
    return own.every(({ addr }) => addr !== undefined) ? own.length : null;
  } catch {
    // An access list forbids the command; without a connection the other readings fail too.
    return null;
  }
}
