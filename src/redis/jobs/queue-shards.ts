import { createHash } from 'node:crypto';

/**
 * The shards that the accounts' queues are spread over, the same in every process of a deployment
 * (docs/adr/0021-queues-in-several-slots.md).
 */
export interface QueueShards {
  /** Number of shards; workers work on all of them. */
  readonly count: number;
  /** BullMQ's prefix of the queues of a shard, 0 to `count` - 1. */
  prefix(shard: number): string;
  /** The shard of an account's jobs. */
  homeOf(account: string): number;
}

/** Number of shards in a cluster, whose servers share them; a single Redis has one. */
export const clusterShards = 16;

/**
 * Names the shards from BullMQ's prefix of the first one, `queues`: each has a hash tag of its own. `count`
 * is 256 at most. An account has the same shard in every process.
 */
export function createQueueShards(queues: string, count: number): QueueShards {
  return {
    count,
    prefix: (shard) => (shard === 0 ? queues : queues.replace('}', `${shard}}`)),
    homeOf: (account) =>
      count === 1 ? 0 : createHash('sha256').update(account).digest().readUInt8() % count,
  };
}

/** One shard for all accounts, under this prefix. */
export function oneShard(queues: string): QueueShards {
  return createQueueShards(queues, 1);
}
