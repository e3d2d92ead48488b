import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { DrainQueue } from '../../delivery/drain-queue.ts';
import type { Metrics } from '../../monitoring/metrics.ts';
import type { PollQueue } from '../../polling/schedule/poll-queue.ts';
import type { RedisConnections } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { StoreWatch } from '../../redis/durability/store-watch.ts';
import type { WorkTally } from '../../monitoring/work-tally.ts';
import { createWorkWatch, type WorkWatch } from '../../monitoring/work-watch.ts';

/**
 * Milliseconds, in addition to the deadline of one request, in which some of the work in progress has to end.
 * A poll waits for up to a minute when the partner service asks it to.
 */
export const quietMs = 120_000;

export interface WatchedParts {
  readonly connections: RedisConnections;
  readonly keys: Keys;
  readonly watch: StoreWatch;
  readonly pollQueue: PollQueue;
  readonly drainQueue: DrainQueue;
  /** The work of this process. */
  readonly polls: WorkTally;
  readonly drains: WorkTally;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Watches the queues that the roles of this process work on. */
export function watchWork(
  { roles }: Config,
  { connections, keys, watch, pollQueue, polls, drainQueue, drains, logger, metrics }: WatchedParts,
): WorkWatch {
  const queues = [
    { name: 'poll', role: 'poll', tally: polls, queues: pollQueue.queues },
    { name: 'drain', role: 'deliver', tally: drains, queues: drainQueue.queues },
  ] as const;
  return createWorkWatch({
    redis: connections.failFast(),
    takenKey: keys.taken,
    queues: queues
      .filter(({ role }) => roles.has(role))
      .map(({ name, tally, queues: shards }) => ({
        name,
        tally,
        keys: () => shards().map((queue) => (part: string) => queue.toKey(part)),
      })),
    storeProblem: watch.problem,
    isConnected: () => connections.blocking().status === 'ready',
    logger,
    metrics,
    now: () => performance.now(),
    wallClock: Date.now,
  });
}
