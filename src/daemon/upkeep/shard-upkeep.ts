import type { AccountStore } from '../../accounts/account-store.ts';
import type { DrainQueue } from '../../delivery/drain-queue.ts';
import type { PollQueue } from '../../polling/schedule/poll-queue.ts';
import { isUnused } from '../../redis/jobs/queue-state.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { ChangingShards } from '../../redis/shards/queue-shards.ts';
import { announceMs } from '../../redis/shards/shard-plan.ts';

export interface ShardUpkeepDeps {
  readonly shards: ChangingShards;
  readonly redis: RedisClient;
  readonly pollQueue: Pick<PollQueue, 'queues' | 'moveSchedules'>;
  readonly drainQueue: Pick<DrainQueue, 'queues'>;
  readonly stores: { readonly accounts: Pick<AccountStore, 'get'> };
  /** Milliseconds on Redis's clock. */
  readonly clock: { now(): number };
}

/** The steps of a change of the number of shards that a process takes besides looking; safe to repeat. */
export function createShardUpkeep({ shards, redis, pollQueue, drainQueue, stores, clock }: ShardUpkeepDeps) {
  return {
    /**
     * After a change, moves the schedules of all accounts to their shards. It is done once no process can
     * schedule an account by the number before.
     */
    async moveSchedules(): Promise<void> {
      const plan = shards.plan();
      if (plan.moved) return;
      const isLast = clock.now() - plan.since >= announceMs;
      await pollQueue.moveSchedules(
        async (account) => (await stores.accounts.get(account))?.pollIntervalMs ?? null,
      );
      if (isLast) await shards.noteMoved(plan);
    },
    /** Notes when the shards beyond the number in force are empty: processes that start leave them out. */
    async forgetUnused(): Promise<void> {
      const plan = shards.plan();
      const beyond = [...pollQueue.queues().slice(plan.number), ...drainQueue.queues().slice(plan.number)];
      if (beyond.length === 0) return;
      const unused = await Promise.all(beyond.map((queue) => isUnused(queue, redis)));
      if (unused.every(Boolean)) await shards.noteEmptyAbove(plan);
    },
  };
}
