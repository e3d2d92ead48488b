import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { DrainQueue } from '../../delivery/drain-queue.ts';
import type { Metrics } from '../../monitoring/metrics.ts';
import type { PollQueue } from '../../polling/schedule/poll-queue.ts';
import type { RedisConnections } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { StoreWatch } from '../../redis/durability/store-watch.ts';
import { createWorkTally, type WorkTally } from '../../monitoring/due-work/tally.ts';
import { createWorkWatch, type WorkWatch } from '../../monitoring/due-work/work-watch.ts';

/** Maximum number of polls of a process at once; they mostly wait for the partner service. */
export const pollsAtOnce = 200;
/**
 * Maximum number of drains of a process at once: a drain whose endpoint hangs keeps its place until the
 * callback times out.
 */
export const drainsAtOnce = 2_000;

// Milliseconds in which something of the work under way has to come to an end, beside the deadline of one
// request: a poll that the partner service tells to wait does so for a minute.
const quietMs = 120_000;

export interface WatchedParts {
  readonly connections: RedisConnections;
  readonly keys: Keys;
  readonly watch: StoreWatch;
  readonly pollQueue: PollQueue;
  readonly drainQueue: DrainQueue;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Watches the queues that the roles of this process work on. The workers count into the tallies what they do.
 */
export function watchWork(
  { roles, polling, delivery }: Config,
  { connections, keys, watch, pollQueue, drainQueue, logger, metrics }: WatchedParts,
): WorkWatch & { readonly tallies: Record<'poll' | 'drain', WorkTally> } {
  const now = () => performance.now();
  const tallies = {
    poll: createWorkTally({ busyFrom: 1, quietMsMax: polling.timeoutMs + quietMs, now }),
    drain: createWorkTally({ busyFrom: drainsAtOnce, quietMsMax: delivery.timeoutMs + quietMs, now }),
  };
  const queues = [
    { name: 'poll', role: 'poll', tally: tallies.poll, queue: pollQueue.queue },
    { name: 'drain', role: 'deliver', tally: tallies.drain, queue: drainQueue.queue },
  ] as const;
  const work = createWorkWatch({
    redis: connections.failFast(),
    takenKey: keys.taken,
    queues: queues
      .filter(({ role }) => roles.has(role))
      .map(({ name, tally, queue }) => ({ name, tally, key: (part: string) => queue.toKey(part) })),
    storeProblem: watch.problem,
    isConnected: () => connections.blocking().status === 'ready',
    logger,
    metrics,
    now,
    wallClock: Date.now,
  });
  return { ...work, tallies };
}
