import { Queue } from 'bullmq';
import type { RedisClient } from '../connection/connect.ts';
import type { QueueShards } from '../shards/queue-shards.ts';
import { leavesNothing } from './job-options.ts';

/** A queue that is spread over the shards: one BullMQ queue in each. */
export interface ShardedQueue<Data> {
  /** The queues of all shards that may hold jobs, the first shard's first. */
  all(): readonly [Queue<Data>, ...Queue<Data>[]];
  of(shard: number): Queue<Data>;
  /** The queue of the account's jobs. */
  ofAccount(account: string): Queue<Data>;
  /** The queues in which the account may have jobs: its own, and its former one after a change. */
  allOfAccount(account: string): Queue<Data>[];
  close(): Promise<void>;
}

/** Opens the queues of each shard with its first use. Errors of connections go to `onError`. */
export function createShardedQueue<Data>(
  name: string,
  connection: RedisClient,
  shards: QueueShards,
  onError: (error: Error) => void,
): ShardedQueue<Data> {
  const opened = new Map<number, Queue<Data>>();

  function of(shard: number): Queue<Data> {
    const known = opened.get(shard);
    if (known !== undefined) return known;
    const options = { connection, prefix: shards.prefix(shard), defaultJobOptions: leavesNothing };
    const queue = new Queue<Data>(name, options);
    queue.on('error', onError);
    opened.set(shard, queue);
    return queue;
  }

  return {
    all: () => [of(0), ...Array.from({ length: shards.count() - 1 }, (_, i) => of(i + 1))],
    of,
    ofAccount: (account) => of(shards.homeOf(account)),
    allOfAccount(account) {
      const homes = [shards.homeOf(account), shards.formerHomeOf(account)];
      return [...new Set(homes.filter((shard) => shard !== null))].map(of);
    },
    async close() {
      await Promise.all([...opened.values()].map((queue) => queue.close()));
    },
  };
}
