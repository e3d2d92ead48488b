import type { Logger } from 'pino';
import { createAccountStore } from '../accounts/account-store.ts';
import { createTokenStore } from '../accounts/token-store.ts';
import type { Config } from '../config/config.ts';
import {
  logSparingly,
  reportAttempt,
  reportBlocked,
  reportDisabled,
  reportExpired,
  reportReplicas,
  reportRestored,
  reportStep,
  reportRewrites,
  reportTorn,
} from '../monitoring/reports.ts';
import { createBlockStore } from '../delivery/blocked/block-store.ts';
import { createCallbackClient } from '../callbacks/callback-client.ts';
import { createDeliveryStore } from '../delivery/store/delivery-store.ts';
import { createDrainQueue, drainQueueName } from '../delivery/drain-queue.ts';
import { createEgressPolicy } from '../egress/address-policy.ts';
import { createLogOutline } from '../events/log-outline.ts';
import { createLagReader } from '../subscriptions/lag.ts';
import { createReplayStore } from '../delivery/replay/replay-store.ts';
import { createSubscriptionMender } from '../delivery/blocked/mend-subscription.ts';
import { createSubscriptionDrainer } from '../delivery/drain/drainer.ts';
import { createSubscriptionWaker } from '../delivery/wake.ts';
import { createEventLog } from '../events/event-log.ts';
import { createCommitJournal } from '../filings/commit/commit-journal.ts';
import { createCountHistory } from '../filings/count-history.ts';
import { createFilingListStore } from '../filings/filing-list-store.ts';
import { createSnapshotStore, type SnapshotOptions } from '../filings/snapshot-store.ts';
import type { Metrics } from '../monitoring/metrics.ts';
import { createAccountRecords } from '../records/account-records.ts';
import { createDeliveryRepairer } from '../records/repair-delivery.ts';
import { createUnreadableReports } from '../records/unreadable-reports.ts';
import { readAgain } from '../polling/store/missed-read-store.ts';
import { createPollQueue, pollQueueName } from '../polling/schedule/poll-queue.ts';
import { createPollingStore } from '../polling/store/polling-store.ts';
import { checkDurability } from '../redis/durability/check-durability.ts';
import { createAofRewriter } from '../redis/durability/aof-rewriter.ts';
import { createRedisClock } from '../redis/clock.ts';
import {
  createRedisConnections,
  type RedisClient,
  type RedisConnections,
} from '../redis/connection/connect.ts';
import { shortenExpiries } from '../redis/jobs/job-expiries.ts';
import { createKeys } from '../redis/keys.ts';
import { createStoreWatch } from '../redis/durability/store-watch.ts';
import { oldestKept } from './upkeep/retention.ts';
import { createPartStopper } from './stop-parts.ts';
import { watchWork } from './upkeep/watch.ts';
import { releaseLost } from './upkeep/release-lost.ts';
import { startSecretUpkeep } from './upkeep/secret-upkeep.ts';
import { createSealer } from '../secrets/seal.ts';
import { listSealedSubscriptions } from '../subscriptions/sealed-subscriptions.ts';
import { createSubscriptionStore } from '../subscriptions/subscription-store.ts';
import { noTracing, type Tracing } from '../tracing/tracing.ts';

export interface DaemonDeps {
  readonly version: string;
  readonly logger: Logger;
  /** Source of jitter, in [0, 1). */
  readonly random: () => number;
  /** A start waits for Redis until this aborts; without it, ten seconds. */
  readonly signal?: AbortSignal;
}

/** Redis may lose or evict what it is given, and `REDIS_UNSAFE` does not allow that. */
export class UnsafeRedisError extends Error {
  override readonly name = 'UnsafeRedisError';
}

const clientEndMs = 2_000;

/** What one attempt to start works with. */
export interface PartsDeps extends DaemonDeps {
  readonly metrics: Metrics;
  /** Resolves when Redis answers; rejects when it is not to be waited for any longer. */
  readonly untilRedis: (connections: RedisConnections) => Promise<void>;
}

/** What the roles of one process share. */
export type Parts = Awaited<ReturnType<typeof createParts>>;

/**
 * Makes every client, store and queue of the process, once, and leaves their closing to the stack. Rejects
 * when Redis cannot be reached, is not safe (UnsafeRedisError) or was sealed with another key
 * (WrongKeyError).
 */
export async function createParts(
  config: Config,
  { version, logger, random, metrics, untilRedis }: PartsDeps,
  stack: AsyncDisposableStack,
) {
  const connections = stack.use(
    createRedisConnections(config.redis.url, {
      connectionName: 'filing-webhooks',
      replicaWait: reportReplicas(config.redis.waitReplicas, logger, metrics),
      onStateChange: (change) =>
        change.up ? logger.info('redis.up') : logger.error({ reason: change.reason }, 'redis.down'),
    }),
  );
  await untilRedis(connections);
  const redis = connections.command();
  const keys = createKeys(config.redis.prefix);
  const { problems } = await checkDurability(redis);
  refuseUnsafe(config, problems, logger);

  const watch = createStoreWatch(connections.failFast(), keys);
  const { fresh } = await watch.begin();
  if (fresh) logger.warn('store.empty');

  const onError = logSparingly(logger, () => performance.now());
  const shortenAll = async () => {
    for (const queue of [pollQueueName, drainQueueName])
      await shortenExpiries(redis, `${keys.queues}:${queue}`);
  };
  const logStep = reportStep(logger, metrics);
  const clock = createRedisClock(redis, (ms) => {
    logStep(ms);
    if (ms < 0) shortenAll().catch(onError);
  });
  await clock.synchronise();
  // The clock may have been set back while no process ran.
  await shortenAll();
  const retentionAt = (now: number) => ({
    now,
    steadySince: clock.steadySince(),
    wallNow: Date.now(),
    retentionMs: config.eventRetentionMs,
  });
  const sealer = createSealer(config.encryptionKeys);
  const reports = createUnreadableReports(logger, metrics, Date.now);
  const onUnreadable = reports.note;
  const storesOn = (client: RedisClient, committing: Partial<SnapshotOptions> = {}) => {
    const log = createEventLog(client, keys, onUnreadable);
    const outline = createLogOutline(client, keys);
    return {
      accounts: createAccountStore({ redis: client, keys, sealer, defaults: config.polling, onUnreadable }),
      tokens: createTokenStore(client, keys, onUnreadable),
      snapshot: createSnapshotStore(client, keys, { ...committing, onUnreadable }),
      filings: createFilingListStore(client, keys, onUnreadable),
      countHistory: createCountHistory(client, keys),
      polling: createPollingStore(client, keys, onUnreadable),
      log,
      subscriptions: createSubscriptionStore(client, keys, sealer, onUnreadable),
      delivery: createDeliveryStore(client, keys, (now) => oldestKept(retentionAt(now)), onUnreadable),
      replays: createReplayStore(client, keys),
      blocks: createBlockStore(client, keys),
      outline,
      lags: createLagReader({ log, outline }),
    };
  };
  const logTorn = reportTorn(logger, metrics);
  const logRestored = reportRestored(logger, metrics);
  const journal = createCommitJournal(redis, keys, onUnreadable);
  const stores = storesOn(redis, {
    journal,
    async onRestored(restoration, generation) {
      logRestored(restoration);
      const { account, restated } = restoration;
      await readAgain({ ...stores, now: clock.now }, account, generation, restated);
      await waker.wakeLagging(account);
    },
    async onTorn(mending, generation) {
      logTorn(mending);
      const { account, restated } = mending;
      await readAgain({ ...stores, now: clock.now }, account, generation, restated);
      await waker.wakeLagging(account);
    },
  });
  const secrets = stack.use(
    await startSecretUpkeep(
      {
        ...config,
        accounts: stores.accounts,
        sealedSubscriptions: (accounts) => listSealedSubscriptions(redis, keys, accounts),
        sealer,
        logger,
        metrics,
      },
      onError,
    ),
  );
  const pollQueue = createPollQueue(connections.failFast(), keys.queues, onError);
  const drainQueue = createDrainQueue(connections.failFast(), keys.queues, onError);
  const tracing = await startTracing(config, version, onError);
  const stopParts = createPartStopper({ logger, redisAway: connections.untilAway });
  stack.defer(() =>
    stopParts([
      { name: 'poll queue', deadlineMs: clientEndMs, needsRedis: true, stop: pollQueue.close },
      { name: 'drain queue', deadlineMs: clientEndMs, needsRedis: true, stop: drainQueue.close },
      { name: 'callback client', deadlineMs: clientEndMs, needsRedis: false, stop: () => client.close() },
      { name: 'tracing', deadlineMs: clientEndMs, needsRedis: false, stop: tracing.close },
    ]),
  );
  const work = watchWork(config, { connections, keys, watch, pollQueue, drainQueue, logger, metrics });
  const rewriter = createAofRewriter({
    redis,
    keys,
    now: () => performance.now(),
    onRun() {
      releaseLost({ ...stores, drainQueue, pollQueue, logger }).catch(onError);
    },
    ...reportRewrites(logger, metrics),
  });
  const waker = createSubscriptionWaker({ ...stores, queue: drainQueue, now: clock.now });
  const egress = createEgressPolicy({ allowCidrs: config.delivery.allowCidrs });
  const client = createCallbackClient({
    policy: egress,
    allowHttp: config.delivery.allowHttp,
    timeoutMs: config.delivery.timeoutMs,
    userAgent: `filing-webhooks/${version}`,
  });
  const records = createAccountRecords({ ...stores, redis, keys, reports });
  const logAttempt = reportAttempt(logger, metrics);
  const drainer = createSubscriptionDrainer({
    ...config.delivery,
    store: stores.delivery,
    replays: stores.replays,
    blocks: stores.blocks,
    log: stores.log,
    sealer,
    client,
    wallClock: Date.now,
    now: clock.now,
    random,
    mend: createDeliveryRepairer({
      look: records.look,
      mendSubscription: createSubscriptionMender(redis, keys, clock.now),
      keys,
      onUnreadable,
    }),
    onAttempt(report) {
      work.tallies.drain.gotOn();
      logAttempt(report);
      tracing.attemptReported(report);
    },
    onBlocked: reportBlocked(logger),
    onExpired: reportExpired(logger, metrics),
    onDisabled: reportDisabled(logger, metrics),
    wakeMatching: waker.wakeMatching,
  });
  return {
    connections,
    work,
    keys,
    watch,
    rewriter,
    clock,
    retentionAt,
    logger,
    random,
    metrics,
    tracing,
    secrets,
    onError,
    storesOn,
    stores,
    journal,
    records,
    reports,
    pollQueue,
    drainQueue,
    waker,
    egress,
    drainer,
    callbacks: client,
    stopParts,
  };
}

// Its libraries are loaded only where traces are wanted.
async function startTracing(
  { tracing }: Config,
  version: string,
  onError: (error: Error) => void,
): Promise<Tracing> {
  if (tracing === null) return noTracing;
  const { createOtlpTracing } = await import('../tracing/otlp-tracing.ts');
  return createOtlpTracing(tracing, {
    version,
    now: Date.now,
    onError: (error) => onError(new Error(`traces are not sent: ${error.message}`)),
  });
}

function refuseUnsafe(config: Config, problems: readonly string[], logger: Logger): void {
  for (const problem of problems) logger.warn({ problem }, 'redis.unsafe');
  if (problems.length === 0 || config.redis.unsafe) return;
  throw new UnsafeRedisError(`${problems.join('; ')}. Or set REDIS_UNSAFE=true to start all the same.`);
}
