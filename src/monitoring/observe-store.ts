import type { Logger } from 'pino';
import type { Restoration } from '../filings/restore-commits.ts';
import type { AofRewriterDeps } from '../redis/durability/aof-rewriter.ts';
import type { ReplicaWait } from '../redis/connection/wait-replicas.ts';
import type { RedisStateChange } from '../redis/connection/connect.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';
import { toUnreadable } from '../redis/unreadable-record.ts';
import type { Metrics } from './metrics.ts';

/** Reports changes of Redis and repairs of its data as log lines and metrics. */
export interface StoreObserver
  extends
    Pick<ReplicaWait, 'onUnreplicated' | 'onChange'>,
    Pick<AofRewriterDeps, 'onRewritten' | 'onNotRewritten' | 'onLook'> {
  onStateChange(change: RedisStateChange): void;
  /** Redis's clock has stepped by `ms` milliseconds, negative if it was set back. */
  onStep(ms: number): void;
  /** Commits that Redis had lost were restored. */
  onRestored(restoration: Restoration): void;
}

/** An observer of the store; `waitReplicas` is the number of replicas that commits wait for. */
export function observeStore(logger: Logger, metrics: Metrics, waitReplicas: number): StoreObserver {
  return {
    onStateChange: (change) =>
      change.up ? logger.info('redis.up') : logger.error({ reason: change.reason }, 'redis.down'),
    onUnreplicated: () => metrics.unreplicatedCommits.inc(),
    onChange(acknowledged) {
      if (acknowledged === null) logger.info('redis.replicas_back');
      else logger.warn({ wanted: waitReplicas, acknowledged }, 'redis.replicas_missing');
    },
    onRewritten: (server) => logger.info({ server }, 'redis.aof_rewritten'),
    onNotRewritten: (server, reason) => logger.warn({ server, reason }, 'redis.aof_not_rewritten'),
    onLook: (missing) => metrics.rewritesMissing.set(missing),
    onStep(ms) {
      metrics.clockSteps.inc();
      logger.warn({ ms }, 'clock.stepped');
    },
    onRestored({ account, restored, restated }) {
      metrics.setBacks.inc();
      logger.warn({ account, restored, restated: restated.length }, 'log.set_back');
    },
  };
}

// Milliseconds in which errors of the same text are logged once.
const quietMs = 60_000;
// Maximum number of texts in memory.
const textsMax = 1_000;

/** Logs an error once a minute per text: while Redis is away, there are thousands of the same. */
export function logSparingly(logger: Logger, now: () => number): (error: Error) => void {
  const loggedAt = createBoundedMap<string, number>(textsMax);
  return (error) => {
    // Redis reports that a command does not fit the type of a key, without naming the key.
    const { message } = toUnreadable(error) ?? error;
    const last = loggedAt.get(message) ?? -Infinity;
    if (now() - last < quietMs) return;
    loggedAt.set(message, now());
    logger.error({ error: message, code: (error as { code?: unknown }).code }, 'background.error');
  };
}
