import { Queue } from 'bullmq';
import type { RedisClient } from '../connection/connect.ts';
import type { QueueShards } from './queue-shards.ts';
import { leavesNothing } from './job-options.ts';

/** A queue that is spread over the shards: one BullMQ queue in each. */
export interface ShardedQueue<Data> {
  /** The queues of all shards, the first shard's first. */
  readonly all: readonly [Queue<Data>, ...Queue<Data>[]];
  /** The queue of the account's jobs. */
  ofAccount(account: string): Queue<Data>;
  close(): Promise<void>;
}

/** Opens the queue of each shard. Errors of connections go to `onError`. */
export function createShardedQueue<Data>(
  name: string,
  connection: RedisClient,
  shards: QueueShards,
  onError: (error: Error) => void,
): ShardedQueue<Data> {
  function open(shard: number): Queue<Data> {
    const options = { connection, prefix: shards.prefix(shard), defaultJobOptions: leavesNothing };
    const queue = new Queue<Data>(name, options);
    queue.on('error', onError);
    return queue;
  }

  const first = open(0);
  const others = Array.from({ length: shards.count - 1 }, (_, i) => open(i + 1));
  const all = [first, ...others] as const;
  return {
    all,
    ofAccount: (account) => all[shards.homeOf(account)] ?? first,
    async close() {
      await Promise.all(all.map((queue) => queue.close()));
    },
  };
}
