import { Queue } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';
import type { PollMode } from './plan-poll.ts';

/** Data of the jobs in the queue `poll`. */
export interface PollJob {
  readonly account: string;
  readonly mode: PollMode;
  /** True when somebody asked for it: then it does not wait for a backoff to pass and is not skipped. */
  readonly asked: boolean;
}

/** Says when accounts are polled: one BullMQ job scheduler each. */
export interface PollQueue {
  /** Polls an account every so often from now on; safe to repeat. */
  schedule(account: string, everyMs: number): Promise<void>;
  unschedule(account: string): Promise<void>;
  /** Polls once, as soon as a worker is free. */
  pollNow(account: string, mode: PollMode): Promise<void>;
  close(): Promise<void>;
}

/** Name of the queue, for its worker. */
export const pollQueueName = 'poll';

// Ids of schedulers and jobs may not consist of digits alone, which an account's name may.
const schedulerId = (account: string) => `poll-${account}`;

/** The queue's writing end. */
export function createPollQueue(
  connection: RedisClient,
  prefix: string,
  onError: (error: Error) => void,
): PollQueue {
  const finished = { removeOnComplete: true, removeOnFail: true } as const;
  const queue = new Queue<PollJob>(pollQueueName, { connection, prefix, defaultJobOptions: finished });
  queue.on('error', onError);
  return {
    async schedule(account, everyMs) {
      const template = {
        name: 'poll',
        data: { account, mode: 'delta' as const, asked: false },
        opts: finished,
      };
      await queue.upsertJobScheduler(schedulerId(account), { every: everyMs }, template);
    },
    async unschedule(account) {
      await queue.removeJobScheduler(schedulerId(account));
    },
    async pollNow(account, mode) {
      await queue.add(
        'poll',
        { account, mode, asked: true },
        { attempts: 5, backoff: { type: 'fixed', delay: 1_000 } },
      );
    },
    close: () => queue.close(),
  };
}
