import type { RedisClient } from '../../redis/connection/connect.ts';
import { openQueue, releaseLostJobs } from '../../redis/jobs/job-queue.ts';
import { staggerOf, type PollMode } from './plan.ts';

/** Data of the jobs in the queue `poll`. */
export interface PollJob {
  readonly account: string;
  readonly mode: PollMode;
  /** True when a user asked for the poll; it then does not wait for a backoff to pass and is not skipped. */
  readonly asked: boolean;
  /** Milliseconds from one poll to the next; only in the job that polls an account again and again. */
  readonly everyMs?: number;
}

/** An account as it is to be polled. */
interface Scheduled {
  readonly account: string;
  readonly pollIntervalMs: number;
}

/** Decides when accounts are polled: one job each, which waits for its next time whenever it has run. */
export type PollQueue = ReturnType<typeof createPollQueue>;

/** Name of the queue, for its worker. */
export const pollQueueName = 'poll';

// Milliseconds by which a poll may be late because a killed process's job has to be taken over (9 s), or
// because all places are taken.
const overdueMs = 10_000;
// Milliseconds by which the clocks of processes may differ before a schedule is suspect.
const aheadMs = 5_000;

/** The queue's writing end; `prefix` is BullMQ's. */
export function createPollQueue(connection: RedisClient, prefix: string, onError: (error: Error) => void) {
  const queue = openQueue<PollJob>(pollQueueName, connection, prefix, onError);

  // When each of the accounts' jobs runs next (ms); null for those that wait for no time.
  async function nextTimes(accounts: readonly Scheduled[]): Promise<(number | null)[]> {
    if (accounts.length === 0) return [];
    const scores = await connection.zmscore(
      queue.toKey('delayed'),
      ...accounts.map(({ account }) => jobId(account)),
    );
    return scores.map((score) => (score === null ? null : timeOfScore(score)));
  }

  async function areSuspect(accounts: readonly Scheduled[]): Promise<boolean[]> {
    const times = await nextTimes(accounts);
    return Promise.all(
      accounts.map(async ({ account, pollIntervalMs }, i) => {
        const nextAt = times[i] ?? null;
        if (nextAt !== null) return isSuspect(nextAt, pollIntervalMs, Date.now());
        return (await queue.getJobState(jobId(account))) === 'unknown';
      }),
    );
  }

  async function schedule(account: string, everyMs: number): Promise<void> {
    const data = { account, mode: 'delta' as const, asked: false, everyMs };
    for (;;) {
      // Changes nothing if the job already exists.
      const job = await queue.add('poll', data, { jobId: jobId(account) });
      // The job is gone if another process reschedules the account.
      if (!(await isDone(job.updateData(data)))) continue;
      const [nextAt = null] = await nextTimes([{ account, pollIntervalMs: everyMs }]);
      if (nextAt === null) return;
      // A job whose time has come in between runs anyway.
      await isDone(job.changeDelay(nextPollAt(account, everyMs, Date.now()) - Date.now()));
      return;
    }
  }

  async function unschedule(account: string): Promise<void> {
    await queue.remove(jobId(account));
  }

  return {
    /** BullMQ's queue, for readers. */
    jobs: queue,
    /**
     * Polls an account every `everyMs` milliseconds from now on, staggered, and once now if it was not
     * scheduled before. Safe to repeat, also with another interval; a poll that is under way then is followed
     * by the next one at the former interval at the latest.
     */
    schedule,
    isScheduled: async (account: string): Promise<boolean> =>
      (await queue.getJob(jobId(account))) !== undefined,
    /**
     * Accounts whose job is lost, or waits for a time that is long over or further away than their interval
     * explains: BullMQ uses the clocks of the processes, any of which may be or have been wrong.
     */
    async suspects<T extends Scheduled>(accounts: readonly T[]): Promise<T[]> {
      const suspect = await areSuspect(accounts);
      return accounts.filter((_, i) => suspect[i]);
    },
    /** Accounts that are not scheduled, have another interval, or are suspects. Reads their jobs only. */
    async outdated<T extends Scheduled>(accounts: readonly T[]): Promise<T[]> {
      const [suspect, jobs] = await Promise.all([
        areSuspect(accounts),
        Promise.all(accounts.map(({ account }) => queue.getJob(jobId(account)))),
      ]);
      return accounts.filter(
        ({ pollIntervalMs }, i) => suspect[i] === true || jobs[i]?.data.everyMs !== pollIntervalMs,
      );
    },
    /** Number of jobs in the queue: not less than that of scheduled accounts. */
    count: (): Promise<number> => queue.getJobCountByTypes('delayed', 'waiting', 'active'),
    /**
     * Schedules an account anew from now on, whenever its next poll was due, and polls it once now, unless a
     * poll is under way. A crash leaves it unscheduled, and so a suspect.
     */
    async reschedule({ account, pollIntervalMs }: Scheduled) {
      await unschedule(account);
      await schedule(account, pollIntervalMs);
    },
    /**
     * Removes jobs of an account that were lost half-way and keep further ones from being added. See
     * `releaseLostJobs`.
     */
    release: (account: string): Promise<number> =>
      releaseLostJobs(queue, [sweepId(account), askedId(account, 'delta'), askedId(account, 'sweep')]),
    /** Ends the polls of an account; one that is under way ends by itself, because the account is gone. */
    unschedule,
    /** Polls once, as soon as a worker is free; a second call before that changes nothing. */
    async pollNow(account: string, mode: PollMode) {
      await queue.add(
        'poll',
        { account, mode, asked: true },
        {
          attempts: 5,
          backoff: { type: 'fixed', delay: 1_000 },
          deduplication: { id: askedId(account, mode), keepLastIfActive: true },
        },
      );
    },
    /** Begins a sweep as soon as a worker is free, unless one that it has begun waits or is under way. */
    async beginSweep(account: string) {
      const data = { account, mode: 'sweep' as const, asked: false };
      await queue.add('poll', data, { deduplication: { id: sweepId(account) } });
    },
    close: () => queue.close(),
  };
}

// Whether a job could be changed: not if it is gone, or in another state; BullMQ numbers these errors.
async function isDone(change: Promise<void>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (typeof (error as { code?: unknown }).code !== 'number') throw error;
    return false;
  }
}

/**
 * The next time (ms) at which an account is polled every `everyMs`: the first after `now` in its own rhythm,
 * which spreads the polls of many accounts; pure.
 */
export function nextPollAt(account: string, everyMs: number, now: number): number {
  const offset = Math.floor(staggerOf(account) * everyMs);
  return (Math.floor((now - offset) / everyMs) + 1) * everyMs + offset;
}

/**
 * Whether a job that waits until `nextAt` (ms, on the clock of this process, as `now`) cannot be one that was
 * scheduled every `pollIntervalMs`; pure.
 */
export function isSuspect(nextAt: number, pollIntervalMs: number, now: number): boolean {
  return nextAt < now - overdueMs || nextAt > now + pollIntervalMs + aheadMs;
}

// BullMQ counts the jobs of a millisecond in the lower twelve bits.
function timeOfScore(score: string): number {
  return Math.floor(Number(score) / 4_096);
}

/** Id of the job that polls an account. Ids may not consist of digits alone, which an account's name may. */
function jobId(account: string): string {
  return `poll-${account}`;
}

// Id of the sweep that a poll has begun.
function sweepId(account: string): string {
  return `${account}.sweeping`;
}

function askedId(account: string, mode: PollMode): string {
  return `${account}.${mode}`;
}
