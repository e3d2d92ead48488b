import type { Queue } from 'bullmq';
import type { RedisClient } from '../../redis/connection/connect.ts';
import { leavesNothing, openQueue, releaseLostJobs } from '../../redis/jobs/job-queue.ts';
import { staggerOf, type PollMode } from './plan.ts';

/** Data of the jobs in the queue `poll`. */
export interface PollJob {
  readonly account: string;
  readonly mode: PollMode;
  /** True when a user asked for the poll; it then does not wait for a backoff to pass and is not skipped. */
  readonly asked: boolean;
}

/** An account as it is to be polled. */
interface Scheduled {
  readonly account: string;
  readonly pollIntervalMs: number;
}

/** Decides when accounts are polled: one BullMQ job scheduler each. */
export interface PollQueue {
  /** BullMQ's queue, for readers. */
  readonly jobs: Queue<PollJob>;
  /**
   * Polls an account every `everyMs` milliseconds from now on, staggered, and once now if it was not
   * scheduled before. Safe to repeat, also with another interval.
   */
  schedule(account: string, everyMs: number): Promise<void>;
  isScheduled(account: string): Promise<boolean>;
  /**
   * Accounts whose next poll is overdue, or further away than their interval explains. BullMQ schedules each
   * poll together with the one before. A Redis that was set back, or a process that ended between two writes,
   * therefore leaves the last poll without a successor. BullMQ also uses the clocks of the processes, any of
   * which may be or have been wrong.
   */
  suspects<T extends Scheduled>(accounts: readonly T[]): Promise<T[]>;
  /**
   * Some of the accounts whose next poll is overdue, `count` at most, behind the first `from`, in the order
   * of the times at which they were due. The accounts that are not overdue cost nothing.
   */
  overdue(from: number, count: number): Promise<string[]>;
  /**
   * Accounts whose schedule is missing, overdue, has another interval, or waits for a job that is gone. Reads
   * these accounts' schedules only.
   */
  outdated<T extends Scheduled>(accounts: readonly T[]): Promise<T[]>;
  /** Number of scheduled accounts. */
  scheduledCount(): Promise<number>;
  /**
   * Schedules an account anew from now on, whenever its next poll was due, and polls it once now. A crash
   * leaves it unscheduled, and so a suspect.
   */
  reschedule(account: Scheduled): Promise<void>;
  /**
   * Removes jobs of an account that were lost half-way and keep further ones from being added. See
   * `releaseLostJobs`.
   */
  release(account: string): Promise<number>;
  unschedule(account: string): Promise<void>;
  /** Polls once, as soon as a worker is free; a second call before that changes nothing. */
  pollNow(account: string, mode: PollMode): Promise<void>;
  /** Begins a sweep as soon as a worker is free, unless one that it has begun waits or is under way. */
  beginSweep(account: string): Promise<void>;
  close(): Promise<void>;
}

/** Name of the queue, for its worker. */
export const pollQueueName = 'poll';

// Milliseconds by which a poll may be late because a killed process's job has to be taken over (9 s), or
// because all places are taken.
const overdueMs = 10_000;
// Milliseconds by which the clocks of processes may differ before a schedule is suspect.
const aheadMs = 5_000;

/** The queue's writing end; `prefix` is BullMQ's. */
export function createPollQueue(
  connection: RedisClient,
  prefix: string,
  onError: (error: Error) => void,
): PollQueue {
  const queue = openQueue<PollJob>(pollQueueName, connection, prefix, onError);
  const schedulers = queue.toKey('repeat');

  async function isScheduled(account: string): Promise<boolean> {
    return (await queue.getJobScheduler(schedulerId(account))) !== undefined;
  }

  // When the next poll of each account is due; undefined for those that are not scheduled.
  async function nextPolls(accounts: readonly Scheduled[]): Promise<(number | undefined)[]> {
    if (accounts.length === 0) return [];
    const ids = accounts.map(({ account }) => schedulerId(account));
    const times = await connection.zmscore(schedulers, ...ids);
    return times.map((at) => (at === null ? undefined : Number(at)));
  }

  const polls: PollQueue = {
    jobs: queue,
    async schedule(account, everyMs) {
      const isNew = !(await isScheduled(account));
      const data = { account, mode: 'delta' as const, asked: false };
      await queue.upsertJobScheduler(
        schedulerId(account),
        { every: everyMs, offset: offsetOf(account, everyMs) },
        { name: 'poll', data, opts: leavesNothing },
      );
      if (isNew) await queue.add('poll', data, { deduplication: { id: onceId(account) } });
    },
    isScheduled,
    async suspects(accounts) {
      const nextAt = await nextPolls(accounts);
      return accounts.filter(({ pollIntervalMs }, i) => isSuspect(nextAt[i], pollIntervalMs, Date.now()));
    },
    async overdue(from, count) {
      const before = `(${Date.now() - overdueMs}`;
      const ids = await connection.zrangebyscore(schedulers, '-inf', before, 'LIMIT', from, count);
      return ids.flatMap((id) => accountOf(id) ?? []);
    },
    async outdated(accounts) {
      const times = await nextPolls(accounts);
      const works = await Promise.all(
        accounts.map(async ({ account, pollIntervalMs }, i) => {
          const nextAt = times[i];
          if (isSuspect(nextAt, pollIntervalMs, Date.now())) return false;
          const scheduler = queue.toKey(`repeat:${schedulerId(account)}`);
          const [every, jobs] = await Promise.all([
            connection.hget(scheduler, 'every'),
            connection.exists(`${scheduler}:${nextAt}`),
          ]);
          return Number(every) === pollIntervalMs && jobs === 1;
        }),
      );
      return accounts.filter((_, i) => works[i] !== true);
    },
    scheduledCount: () => connection.zcard(schedulers),
    async reschedule({ account, pollIntervalMs }) {
      // BullMQ keeps the time of a scheduler's next job as long as that job exists.
      await polls.unschedule(account);
      await polls.schedule(account, pollIntervalMs);
    },
    release: (account) =>
      releaseLostJobs(queue, [
        onceId(account),
        sweepId(account),
        askedId(account, 'delta'),
        askedId(account, 'sweep'),
      ]),
    async unschedule(account) {
      await queue.removeJobScheduler(schedulerId(account));
    },
    async pollNow(account, mode) {
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
    async beginSweep(account) {
      const data = { account, mode: 'sweep' as const, asked: false };
      await queue.add('poll', data, { deduplication: { id: sweepId(account) } });
    },
    close: () => queue.close(),
  };
  return polls;
}

/**
 * Whether no working schedule has its next poll at that time (milliseconds on this process's clock, undefined
 * when there is none); pure.
 */
export function isSuspect(nextAt: number | undefined, pollIntervalMs: number, now: number): boolean {
  return nextAt === undefined || nextAt < now - overdueMs || nextAt > now + pollIntervalMs + aheadMs;
}

// Id of the poll with which a schedule begins.
function onceId(account: string): string {
  return `${account}.scheduled`;
}

// Id of the sweep that a poll has begun.
function sweepId(account: string): string {
  return `${account}.sweeping`;
}

function askedId(account: string, mode: PollMode): string {
  return `${account}.${mode}`;
}

// BullMQ takes an offset of 0 for none and would align the account to the moment of its first run.
function offsetOf(account: string, everyMs: number): number {
  return Math.max(1, Math.floor(staggerOf(account) * everyMs));
}

const idStart = 'poll-';
/** Id of the scheduler of an account. Ids may not consist of digits alone, which an account's name may. */
function schedulerId(account: string): string {
  return idStart + account;
}

/** The account of a scheduler; null when it is none of an account. */
function accountOf(id: string): string | null {
  return id.startsWith(idStart) ? id.slice(idStart.length) : null;
}
