import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { deliverQueueName } from '../../delivery/deliver-queue.ts';
import type { Metrics } from '../../monitoring/metrics.ts';
import { logSparingly, observeStore } from '../../monitoring/observe-store.ts';
import { pollQueueName } from '../../polling/schedule/poll-queue.ts';
import { createUnreadableReports } from '../../monitoring/unreadable-reports.ts';
import { createReportStanding } from '../../redis/unreadable-record.ts';
import { createRedisClock, type Clock } from '../../redis/clock.ts';
import {
  createRedisConnections,
  type RedisClient,
  type RedisConnections,
} from '../../redis/connection/connect.ts';
import { databaseOf } from '../../redis/connection/open-client.ts';
import { checkDurability } from '../../redis/durability/check-durability.ts';
import { checkPermissions } from '../../redis/durability/check-permissions.ts';
import { createStoreWatch } from '../../redis/durability/store-watch.ts';
import { shortenExpiries } from '../../redis/jobs/job-queue.ts';
import { createKeys, type Keys } from '../../redis/keys.ts';
import { createSealer } from '../../secrets/seal.ts';
import type { Overrides } from './overrides.ts';

export interface DaemonDeps {
  readonly version: string;
  readonly logger: Logger;
  /** Number of lines so far that the logger could not write; without it, none are lost. */
  readonly linesLost?: () => number;
  /** Source of jitter, in [0, 1). */
  readonly random: () => number;
  /** The start waits for Redis until this aborts; without a signal, ten seconds. */
  readonly signal?: AbortSignal;
}

/** The dependencies of one attempt to start. */
export interface PartsDeps extends DaemonDeps {
  readonly metrics: Metrics;
  /** Resolves when Redis answers; rejects when the wait is over. */
  readonly untilRedis: (connections: RedisConnections) => Promise<void>;
}

/**
 * Redis does not allow the daemon its work, or it may lose or evict data, which `REDIS_UNSAFE` does not
 * allow.
 */
export class UnsafeRedisError extends Error {
  override readonly name = 'UnsafeRedisError';
}

/** The opened store: connections, clock and the rest that stores and queues are made from. */
export type OpenStore = Awaited<ReturnType<typeof openStore>>;

/**
 * Connects to Redis and begins on the data in it. Rejects when Redis cannot be reached, is not safe
 * (UnsafeRedisError) or holds another format (StoreFormatError).
 */
export async function openStore(
  config: Config,
  deps: PartsDeps,
  stack: AsyncDisposableStack,
  overrides: Overrides,
) {
  const { logger, metrics, untilRedis } = deps;
  const observer = observeStore(logger, metrics, config.redis.waitReplicas);
  const connect = () =>
    createRedisConnections(config.redis.url, {
      connectionName: 'filing-webhooks',
      replicaWait: { replicas: config.redis.waitReplicas, ...observer },
      onStateChange: observer.onStateChange,
    });
  const connections = overrides.connections ?? stack.use(connect());
  await untilRedis(connections);
  const redis = connections.command();
  const all = createKeys(config.redis.prefix, databaseOf(redis));
  const keys = { ...all, queues: overrides.queues ?? all.queues };
  const forbidden = await checkPermissions(redis, keys);
  if (forbidden !== null) throw new UnsafeRedisError(`${forbidden}.`);
  await meetManySlots(redis, keys);
  const { problems } = await checkDurability(redis);
  refuseUnsafe(config, problems, logger);

  const watch = createStoreWatch(connections.failFast(), keys);
  const { fresh } = await watch.begin();
  // A first start finds nothing. Keys without the mark of the store are what a loss has left.
  if (fresh && (await hasRemains(redis, keys))) logger.warn({ remains: true }, 'store.empty');
  else if (fresh) logger.info('store.empty');

  const logError = logSparingly(logger, () => performance.now());
  const onError = (error: Error) => {
    logError(error);
    overrides.onError?.(error);
  };
  const shorten = async () => {
    for (const queue of [pollQueueName, deliverQueueName])
      await shortenExpiries(redis, `${keys.queues}:${queue}`);
  };
  // When Redis's clock is set back, the expiry times of the queues' jobs are too far ahead and are shortened.
  const onStep = (ms: number) => {
    observer.onStep(ms);
    if (ms < 0) shorten().catch(onError);
  };
  const clock = overrides.now === undefined ? createRedisClock(redis, onStep) : clockOf(overrides.now);
  await clock.synchronise();
  // The clock may have been set back while no process ran.
  if (overrides.now === undefined) await shorten();
  const wallClock = overrides.now ?? Date.now;
  const reports = createUnreadableReports(logger, metrics, Date.now);
  return {
    ...deps,
    connections,
    redis,
    keys,
    watch,
    clock,
    observer,
    onError,
    onUnreadable: reports.note,
    reportStanding: createReportStanding(redis, reports.note),
    unreadable: reports.collect,
    sealer: createSealer(config.encryptionKeys),
    retentionAt: (now: number) => ({
      now,
      steadySince: clock.steadySince(),
      wallNow: wallClock(),
      retentionMs: config.eventRetentionMs,
    }),
  };
}

function clockOf(now: () => number): Clock {
  return { now, synchronise: () => Promise.resolve(), steadySince: () => 0 };
}

// Keys of many slots: one of them is not on a node of a cluster that is taken for a single server.
const slotsMet = 64;

// Rejects with MOVED then, rather than some work later.
async function meetManySlots(redis: RedisClient, { aofMark }: Keys): Promise<void> {
  await Promise.all(Array.from({ length: slotsMet }, (_, n) => redis.exists(aofMark(n))));
}

async function hasRemains(redis: RedisClient, { accounts, taken }: Keys): Promise<boolean> {
  const found = await Promise.all([accounts, taken].map((key) => redis.exists(key)));
  return found.some((count) => count > 0);
}

function refuseUnsafe(config: Config, problems: readonly string[], logger: Logger): void {
  for (const problem of problems) logger.warn({ problem }, 'redis.unsafe');
  if (problems.length === 0 || config.redis.unsafe) return;
  throw new UnsafeRedisError(`${problems.join('; ')}. Or set REDIS_UNSAFE=true to start all the same.`);
}
