import { randomUUID } from 'node:crypto';
import { DelayedError, type Job } from 'bullmq';
import type { RedisClient } from '../redis/connection/connect.ts';
import { clockStepMsMin } from '../redis/clock.ts';
import { createJobWorker } from '../redis/jobs/job-worker.ts';
import type { QueueShards } from '../redis/jobs/queue-shards.ts';
import { nameFailure } from '../redis/store-failure.ts';
import type { DrainResult } from './drain/drain.ts';
import { createAccountShares } from './account-shares.ts';
import { createFairShare } from './fair-share.ts';
import { drainQueueName, type DrainJob, type DrainQueue } from './drain-queue.ts';
import { drainSlice, type EndedDrain } from './slices/drain-slice.ts';
import { createTurns } from './take-turns.ts';
import { allEnded } from '../waiting/all-ended.ts';

/** Runs drains as the queue calls for them. */
export interface DrainWorker {
  /**
   * Starts no more jobs and lets running drains finish their callbacks in flight. Resolves when they have,
   * which may be never while Redis is away. Events that the process leaves in flight are sent again under the
   * same ids, by the process that drains the subscription next.
   */
  close(): Promise<void>;
}

export interface DrainWorkerDeps {
  readonly connection: RedisClient;
  readonly shards: QueueShards;
  readonly queue: DrainQueue;
  /**
   * Maximum number of drains at once, each with callbacks in flight. One that waits for a slow endpoint
   * counts.
   */
  readonly concurrency: number;
  readonly drain: (
    account: string,
    subscription: string,
    signal: AbortSignal,
    othersWait: () => Promise<boolean>,
  ) => Promise<DrainResult>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /**
   * Receives the worker's own errors and those of failed drains; a failed drain begins again a second later.
   */
  readonly onError: (error: Error) => void;
}

// Milliseconds until a drain of a slice that has failed begins again.
const tryAgainMs = 1_000;
// Minimum number of a slice's subscriptions that are woken as a slice again.
const sliceMin = 10;
// Milliseconds until a drain that was left to other processes is offered again.
const handOverMs = 100;

/**
 * Starts the workers of the queue `drain`. Its jobs are safe to run again: a killed one is repeated within 9
 * s. A job in a shard that is not its account's, as in a store copied from a single Redis into a cluster,
 * only wakes its subscriptions in theirs.
 */
export function createDrainWorker(deps: DrainWorkerDeps): DrainWorker {
  const { queue, shards, concurrency } = deps;
  const stopping = new AbortController();
  const inTurn = createTurns();
  // Number of jobs under way, in which a slice counts once.
  let running = 0;
  const shares = createAccountShares({ places: concurrency, now: () => performance.now() });
  const name = randomUUID();
  const share = createFairShare({
    running: () => running,
    look: () => queue.ofAll(name),
    now: () => performance.now(),
  });

  async function drain(job: Job<DrainJob>, token: string | undefined): Promise<void> {
    const { account, subscription } = job.data;
    const laterMs = share.isForOthers(subscription) ? handOverMs : shares.waitMs(account, 1);
    if (laterMs > 0) return runLater(job, laterMs, token);
    let leaves = false;
    const othersWait = async () => {
      leaves ||= await share.mayLeave();
      return leaves || (shares.areTaken() && (await queue.waiting()) > 0);
    };
    // A process that gets too little processor time loses the locks of its jobs, and BullMQ hands them out
    // again before all others. Two drains of a subscription in one process would do all work twice, and the
    // process would fall further behind until nothing else had its turn.
    try {
      await inTurn(`${account} ${subscription}`, () => drainNow(job.data, othersWait));
    } finally {
      if (leaves) share.left(subscription);
    }
  }

  async function drainNow(
    { account, subscription, turn }: DrainJob,
    othersWait: () => Promise<boolean>,
  ): Promise<void> {
    running += 1;
    shares.take(account, 1);
    try {
      const { wakeAt } = await deps.drain(account, subscription, stopping.signal, othersWait);
      if (wakeAt === null) return;
      const now = deps.now();
      if (wakeAt > now) await queue.wakeAt(account, subscription, wakeAt, now, turn);
      else await queue.wake(account, [subscription], turn);
    } finally {
      running -= 1;
      shares.give(account, 1);
    }
  }

  async function runLater(job: Job<DrainJob>, afterMs: number, token: string | undefined): Promise<never> {
    await job.moveToDelayed(Date.now() + afterMs, token);
    throw new DelayedError();
  }

  async function drainMany(job: Job<DrainJob>, token: string): Promise<void> {
    const { account, slice = [], turn } = job.data;
    const laterMs = shares.waitMs(account, slice.length);
    if (laterMs > 0) return runLater(job, laterMs, token);
    shares.take(account, slice.length);
    const own = await queue.hold(job, token).catch((error: unknown) => {
      shares.give(account, slice.length);
      throw error;
    });
    shares.give(account, slice.length - own.length);

    async function drainOne(subscription: string): Promise<DrainResult> {
      let result: DrainResult = { wakeAt: null };
      await inTurn(`${account} ${subscription}`, async () => {
        result = await deps.drain(account, subscription, stopping.signal, () => Promise.resolve(true));
      });
      return result;
    }

    function left(): void {
      shares.give(account, 1);
      room.give(1);
    }

    async function conclude(ended: readonly EndedDrain[]): Promise<void> {
      const now = deps.now();
      const haveFailed = idsOf(ended.filter(({ hasFailed }) => hasFailed));
      const again = haveFailed.length >= sliceMin ? haveFailed : [];
      const isLater = ({ subscription, wakeAt }: EndedDrain) =>
        wakeAt !== null && wakeAt > now && !again.includes(subscription);
      const wakeUps = ended
        .filter(isLater)
        .map(({ subscription, wakeAt }) => queue.wakeAt(account, subscription, wakeAt ?? now, now, turn));
      await allEnded([...wakeUps, queue.wakeManyLater(account, again, tryAgainMs, turn)]);
      const ids = idsOf(ended);
      const woken = await queue.giveBack(job, token, ids);
      const isDue = ({ subscription, wakeAt }: EndedDrain) =>
        woken.has(subscription) || (wakeAt !== null && wakeAt <= now);
      const due = idsOf(ended.filter(isDue));
      if (due.length >= sliceMin) await queue.wakeMany(account, due, turn);
      else if (due.length > 0) await queue.wake(account, due, turn);
    }

    const failed = (subscription: string, error: Error): DrainResult => {
      deps.onError(nameFailure(`drain of ${account} ${subscription}`, error));
      return { wakeAt: deps.now() + tryAgainMs };
    };
    running += 1;
    room.take(own.length);
    try {
      await drainSlice(own, { drain: drainOne, failed, left, conclude });
    } finally {
      running -= 1;
    }
  }

  // BullMQ uses the clocks of the processes. A wake-up that comes too early by such a clock is left to the
  // account's next poll, because it might come too early again and again.
  async function wake({ account, subscription, at = 0, turn }: DrainJob): Promise<void> {
    if (at <= deps.now() + clockStepMsMin) await queue.wake(account, [subscription], turn);
  }

  const { room, ...worker } = createJobWorker<DrainJob>({
    queue: drainQueueName,
    name,
    connection: deps.connection,
    shards,
    concurrency,
    lockMs: 6_000,
    stalledMs: 3_000,
    process(job, token, shard) {
      if (job.name === 'wake') return wake(job.data);
      const { account, subscription, slice = [subscription], turn } = job.data;
      if (shards.homeOf(account) !== shard) return queue.wake(account, slice, turn);
      return job.name === 'slice' ? drainMany(job, token ?? '') : drain(job, token);
    },
    onError: deps.onError,
    onFailed: (job, error) =>
      deps.onError(nameFailure(`drain of ${job?.data.account} ${job?.data.subscription}`, error)),
  });
  return {
    async close() {
      stopping.abort();
      await worker.close();
    },
  };
}

function idsOf(ended: readonly EndedDrain[]): string[] {
  return ended.map(({ subscription }) => subscription);
}
