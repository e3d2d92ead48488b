import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './open-client.ts';

/**
 * What was learnt from Redis over a connection that is gone: Redis may have been set back since, by a failover to a replica that lagged or a
 * restart without its last writes.
 */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';

  constructor() {
    super('the connection to Redis was lost since the work began');
  }
}

/** Counts the connections that a client has lost, in a cluster those to any node. Redis is never set back without one being lost. */
export function countLosses(client: RedisClient): () => number {
  let losses = 0;
  const watch = (each: RedisClient) =>
    each.on('close', () => {
      losses += 1;
    });
  watch(client);
  if (client instanceof Cluster) {
    for (const node of client.nodes()) watch(node);
    client.on('+node', (node: Redis) => watch(node));
  }
  return () => losses;
}
