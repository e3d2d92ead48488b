import { createHash } from 'node:crypto';
import type { Job, Queue } from 'bullmq';
import type { RedisClient } from '../redis/connection/connect.ts';
import { releaseLostJobs } from '../redis/jobs/lost-jobs.ts';
import { workerSuffix } from '../redis/jobs/job-worker.ts';
import { workersOf } from '../redis/jobs/queue-state.ts';
import { createShardedQueue } from '../redis/jobs/sharded-queue.ts';
import type { QueueShards } from '../redis/jobs/queue-shards.ts';
import type { DrainsOfAll } from './fair-share.ts';
import { createHeldDrains, type DrainKeys, type SliceJob } from './slices/held-drains.ts';

/** Data of the jobs in the queue `drain`: only ids, because the log and the cursors hold the truth. */
export interface DrainJob {
  readonly account: string;
  /** Empty in the job of a slice: a process of a version without slices drains nothing. */
  readonly subscription: string;
  /** The subscriptions of a slice, which are drained side by side. */
  readonly slice?: readonly string[];
  /** When a delayed wake-up is due, milliseconds on Redis's clock; missing in immediate ones. */
  readonly at?: number;
  /** How many times fifty subscriptions of the account were woken before it; missing means 0. */
  readonly turn?: number;
}

/**
 * Wakes subscriptions. A wake-up during a drain causes one more drain after it and never two at once (BullMQ
 * deduplication). A lost wake-up costs no event, only a delay: until the account's next poll ends, or has
 * gone on for half a minute.
 */
export interface DrainQueue {
  /** The queues themselves, one of each shard, for reading. */
  readonly queues: readonly [Queue<DrainJob>, ...Queue<DrainJob>[]];
  /** Each fifty of them have a turn after the fifty before; `turn` (0) is that of the first. */
  wake(account: string, subscriptions: readonly string[], turn?: number): Promise<void>;
  /**
   * Wakes many subscriptions in slices, a job for each (docs/adr/0030-slices-of-subscriptions.md). A process
   * of a version without slices that takes such a job drains none of them, so that these wake-ups are lost.
   * Each slice has a turn after the one before; `turn` (0) is that of the first.
   */
  wakeMany(account: string, subscriptions: readonly string[], turn?: number): Promise<void>;
  /**
   * Does so after these milliseconds. It bounds how often a drain that fails begins again; a clock that is
   * ahead only begins it earlier.
   */
  wakeManyLater(
    account: string,
    subscriptions: readonly string[],
    afterMs: number,
    turn?: number,
  ): Promise<void>;
  /**
   * Takes the drains of a slice for its job, which a worker has. Returns those taken; the others are under
   * way or wait elsewhere, and are woken alone.
   */
  hold(job: Job<DrainJob>, token: string): Promise<string[]>;
  /** Gives drains back, for the next wake-up of each; returns those that were woken meanwhile. */
  giveBack(job: Job<DrainJob>, token: string, subscriptions: readonly string[]): Promise<ReadonlySet<string>>;
  /** Wakes one subscription at a time (milliseconds on Redis's clock), which replaces the time set before. */
  wakeAt(account: string, subscription: string, at: number, now: number, turn?: number): Promise<void>;
  /**
   * Removes wake-ups that were lost half-way and block later ones; returns their number. See
   * `releaseLostJobs`.
   */
  release(account: string, subscriptions: readonly string[]): Promise<number>;
  /** Number of wake-ups that wait for a worker, in all shards. */
  waiting(): Promise<number>;
  /**
   * The drains of all processes, as the one whose worker has this name sees them. Where Redis does not show
   * its clients, this process is taken for the only one.
   */
  ofAll(worker: string): Promise<DrainsOfAll>;
  close(): Promise<void>;
}

/** Minimum number of subscriptions that are woken in slices. */
export const manyFrom = 100;

/** Name of the queue, for its worker. */
export const drainQueueName = 'drain';

const retryForEver = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

// Maximum number of jobs in one transaction: ten thousand would keep Redis busy for half a second.
const wakeUpsAtOnce = 500;
// Maximum number of subscriptions of a slice, which is that of the calls in a batch of scripts.
const sliceMax = 50;

/** The queue's writing end. */
export function createDrainQueue(
  connection: RedisClient,
  shards: QueueShards,
  onError: (error: Error) => void,
): DrainQueue {
  const sharded = createShardedQueue<DrainJob>(drainQueueName, connection, shards, onError);
  const held = createHeldDrains(connection);

  async function add(account: string, jobs: readonly ReturnType<typeof wakeUp>[]): Promise<void> {
    const queue = sharded.ofAccount(account);
    for (let from = 0; from < jobs.length; from += wakeUpsAtOnce)
      await queue.addBulk(jobs.slice(from, from + wakeUpsAtOnce));
  }

  function wake(account: string, subscriptions: readonly string[], turn = 0): Promise<void> {
    return add(
      account,
      subscriptions.map((each, i) => wakeUp(account, each, turn + Math.floor(i / sliceMax))),
    );
  }

  function wakeManyLater(
    account: string,
    subscriptions: readonly string[],
    afterMs: number,
    turn = 0,
  ): Promise<void> {
    const slices = Math.ceil(subscriptions.length / sliceMax);
    const size = Math.ceil(subscriptions.length / slices);
    const part = (_: unknown, i: number) => subscriptions.slice(i * size, (i + 1) * size);
    return add(
      account,
      Array.from({ length: slices }, part).map((slice, i) =>
        wakeUpOfSlice(account, slice, afterMs, turn + i),
      ),
    );
  }

  return {
    queues: sharded.all,
    wake,
    wakeMany: (account, subscriptions, turn) => wakeManyLater(account, subscriptions, 0, turn),
    wakeManyLater,
    async hold(job, token) {
      const { account, slice = [] } = job.data;
      const ids = slice.map((subscription) => drainId(account, subscription));
      const others = await held.hold(keysOf(sharded.ofAccount(account)), sliceJob(job, token), ids);
      if (others.size === 0) return [...slice];
      await wake(
        account,
        slice.filter((_, i) => others.has(ids[i] ?? '')),
      );
      return slice.filter((_, i) => !others.has(ids[i] ?? ''));
    },
    async giveBack(job, token, subscriptions) {
      const { account } = job.data;
      const ids = subscriptions.map((subscription) => drainId(account, subscription));
      const woken = await held.release(keysOf(sharded.ofAccount(account)), sliceJob(job, token), ids);
      return new Set(subscriptions.filter((_, i) => woken.has(ids[i] ?? '')));
    },
    async wakeAt(account, subscription, at, now, turn = 0) {
      await sharded.ofAccount(account).add(
        'wake',
        { account, subscription, at, turn },
        {
          ...retryForEver,
          priority: priorityAt(at, turn),
          delay: Math.max(0, Math.ceil(at - now)),
          // One delayed job per subscription, always the latest; it also follows one that is running.
          deduplication: { id: wakeId(account, subscription), replace: true, keepLastIfActive: true },
        },
      );
    },
    release(account, subscriptions) {
      const ids = subscriptions.flatMap((id) => [drainId(account, id), wakeId(account, id)]);
      return releaseLostJobs(sharded.ofAccount(account), ids);
    },
    async waiting() {
      return sum(
        await Promise.all(sharded.all.map((queue) => queue.getJobCountByTypes('waiting', 'prioritized'))),
      );
    },
    async ofAll(worker) {
      const active = sharded.all.map((queue) => queue.getActiveCount());
      // The worker of the first shard waits under a name of that shard in each process.
      const [workers, ...underWay] = await Promise.all([workersOf(sharded.all[0], connection), ...active]);
      const names = workers.map(({ rawname = '' }) => rawname).toSorted();
      const before = names.findIndex((name) => name.endsWith(workerSuffix(worker)));
      return {
        underWay: sum(underWay),
        processes: names.length,
        before: before < 0 ? null : before,
      };
    },
    close: sharded.close,
  };
}

// Jobs of one second come in the order of their turns: the first fifty subscriptions of each account before
// the second fifty of any. Each turn is a second's delay at most, so that none waits for ever. The numbers
// begin anew before BullMQ's limit of 2 ** 21, after 24 days.
function priorityAt(atMs: number, turn: number): number {
  return 1 + ((Math.floor(atMs / 1_000) + turn) % 2_000_000);
}

function wakeUp(account: string, subscription: string, turn: number) {
  const data: DrainJob = { account, subscription, turn };
  return {
    name: 'drain',
    data,
    opts: {
      ...retryForEver,
      priority: priorityAt(Date.now(), turn),
      deduplication: { id: drainId(account, subscription), keepLastIfActive: true },
    },
  };
}

function wakeUpOfSlice(account: string, slice: readonly string[], afterMs: number, turn: number) {
  // A delayed one must not stand for one at once.
  const id = afterMs > 0 ? `later.${sliceId(account, slice)}` : sliceId(account, slice);
  return {
    name: 'slice',
    data: { account, subscription: '', slice, turn },
    opts: {
      ...retryForEver,
      priority: priorityAt(Date.now() + afterMs, turn),
      delay: afterMs,
      deduplication: { id, keepLastIfActive: true },
    },
  };
}

function keysOf(queue: Queue): DrainKeys {
  return {
    deduplication: (id) => queue.toKey(`de:${id}`),
    next: (id) => queue.toKey(`dn:${id}`),
    lock: (job) => queue.toKey(`${job}:lock`),
  };
}

function sliceJob({ id = '', deduplicationId = '' }: Job<DrainJob>, token: string): SliceJob {
  return { id, token, slice: deduplicationId };
}

// The same subscriptions make the same slice, so that only one job for them waits.
function sliceId(account: string, slice: readonly string[]): string {
  const digest = createHash('sha1').update(slice.join(' ')).digest('base64url');
  return `slice.${account}.${digest}`;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function drainId(account: string, subscription: string): string {
  return `drain.${account}.${subscription}`;
}

function wakeId(account: string, subscription: string): string {
  return `wake.${account}.${subscription}`;
}
