import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { createAccountStore } from './accounts/account-store.ts';
import { createTokenStore } from './accounts/token-store.ts';
import { createApi } from './api/api.ts';
import type { Config } from './config.ts';
import { createCallbackClient } from './delivery/callback-client.ts';
import { createDeliveryStore } from './delivery/delivery-store.ts';
import { createDrainQueue } from './delivery/drain-queue.ts';
import { checkCallbackUrl } from './delivery/url-policy.ts';
import { createDrainWorker } from './delivery/drain-worker.ts';
import { createEgressPolicy } from './delivery/egress-policy.ts';
import { announceDisabling, logSparingly, reportAttempt, reportPoll } from './daemon-reports.ts';
import { createSubscriptionDrainer } from './delivery/subscription-drainer.ts';
import { createSubscriptionWaker } from './delivery/wake-subscriptions.ts';
import { createEventLog } from './events/event-log.ts';
import { createFilingListStore } from './filings/filing-list-store.ts';
import { createSnapshotStore } from './filings/snapshot-store.ts';
import { createMetrics } from './metrics.ts';
import { createAccountPoller } from './polling/account-poller.ts';
import { createPollQueue } from './polling/poll-queue.ts';
import { createPollWorker } from './polling/poll-worker.ts';
import { createPollingStore } from './polling/polling-store.ts';
import { checkDurability } from './redis/check-durability.ts';
import { createRedisClock } from './redis/clock.ts';
import { createRedisConnections, type RedisClient } from './redis/connect.ts';
import { createKeys } from './redis/keys.ts';
import { createStoreWatch } from './redis/store-watch.ts';
import { createReadiness } from './readiness.ts';
import { collectSubscriptions } from './subscription-gauges.ts';
import { createSealer } from './secrets/seal.ts';
import { createSubscriptionStore } from './subscriptions/subscription-store.ts';

/** A running daemon. Disposing it stops taking work, finishes what is in flight and closes every connection. */
export interface Daemon extends AsyncDisposable {
  /** Where the API listens; null without the role `api`. */
  readonly url: string | null;
}

export interface DaemonDeps {
  readonly version: string;
  readonly logger: Logger;
  /** Source of jitter, in [0, 1). */
  readonly random: () => number;
}

/** Redis may lose or evict what it is given, and `REDIS_UNSAFE` does not allow that. */
export class UnsafeRedisError extends Error {
  override readonly name = 'UnsafeRedisError';
}

const redisTimeoutMs = 10_000;
const upkeepMs = 2_000;
const trimEveryMs = 60_000;
const pollsAtOnce = 50;
const drainsAtOnce = 500;

/**
 * Starts the parts that the configured roles name. Rejects when Redis cannot be reached (then nothing is left running)
 * or is not safe (UnsafeRedisError).
 */
export async function startDaemon(config: Config, deps: DaemonDeps): Promise<Daemon> {
  await using stack = new AsyncDisposableStack();
  const parts = await createParts(config, deps, stack);
  await putDefaultAccount(config, parts);
  if (config.roles.has('deliver')) startDelivery(parts, stack);
  if (config.roles.has('poll')) await startPolling(config, parts, stack);
  startUpkeep(config, parts, stack);
  const url = config.roles.has('api') ? await startApi(config, deps, parts, stack) : null;
  deps.logger.info({ url, roles: [...config.roles], redis: parts.connections.describe }, 'daemon.started');
  const running = stack.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

type Parts = Awaited<ReturnType<typeof createParts>>;

async function createParts(
  config: Config,
  { version, logger, random }: DaemonDeps,
  stack: AsyncDisposableStack,
) {
  const connections = stack.use(
    createRedisConnections(config.redis.url, {
      connectionName: 'filing-webhooks',
      onStateChange: (change) =>
        change.up ? logger.info('redis.up') : logger.error({ reason: change.reason }, 'redis.down'),
    }),
  );
  await connections.untilReady(redisTimeoutMs);
  const redis = connections.command();
  const keys = createKeys(config.redis.prefix);
  const { problems } = await checkDurability(redis);
  refuseUnsafe(config, problems, logger);

  const watch = createStoreWatch(redis, keys);
  const { fresh } = await watch.begin();
  if (fresh)
    logger.warn('store.empty: nothing is known yet, the first poll of each account is a silent baseline');

  const clock = createRedisClock(redis);
  await clock.synchronise();
  const sealer = createSealer(config.encryptionKeys);
  const storesOn = (client: RedisClient) => ({
    accounts: createAccountStore({ redis: client, keys, sealer, defaults: config.polling }),
    tokens: createTokenStore(client, keys),
    snapshot: createSnapshotStore(client, keys),
    filings: createFilingListStore(client, keys),
    polling: createPollingStore(client, keys),
    log: createEventLog(client, keys),
    subscriptions: createSubscriptionStore(client, keys, sealer),
    delivery: createDeliveryStore(client, keys),
  });
  const stores = storesOn(redis);
  const onError = logSparingly(logger, Date.now);
  const pollQueue = createPollQueue(connections.failFast(), keys.queues, onError);
  stack.defer(() => pollQueue.close());
  const drainQueue = createDrainQueue(connections.failFast(), keys.queues, onError);
  stack.defer(() => drainQueue.close());
  const metrics = createMetrics();
  const waker = createSubscriptionWaker({ ...stores, queue: drainQueue, now: clock.now });
  const egress = createEgressPolicy({ allowCidrs: config.delivery.allowCidrs });
  const client = createCallbackClient({
    policy: egress,
    allowHttp: config.delivery.allowHttp,
    timeoutMs: config.delivery.timeoutMs,
    userAgent: `filing-webhooks/${version}`,
  });
  stack.defer(() => client.close());
  const drainer = createSubscriptionDrainer({
    ...config.delivery,
    store: stores.delivery,
    log: stores.log,
    sealer,
    client,
    wallClock: Date.now,
    now: clock.now,
    random,
    onAttempt: reportAttempt(logger, metrics),
    onDisabling: announceDisabling(stores.log, waker, clock.now),
  });
  return {
    connections,
    keys,
    problems,
    watch,
    clock,
    logger,
    random,
    metrics,
    onError,
    storesOn,
    stores,
    pollQueue,
    drainQueue,
    waker,
    egress,
    drainer,
  };
}

function refuseUnsafe(config: Config, problems: readonly string[], logger: Logger): void {
  for (const problem of problems) logger.warn({ problem }, 'redis.unsafe');
  if (problems.length === 0 || config.redis.unsafe) return;
  throw new UnsafeRedisError(`${problems.join('; ')}. Or set REDIS_UNSAFE=true to start all the same.`);
}

// The environment speaks for the account `default` at every start, so that a new key there is taken up.
async function putDefaultAccount({ defaultAccount }: Config, { stores }: Parts): Promise<void> {
  if (defaultAccount === null) return;
  await stores.accounts.put(
    'default',
    { ...defaultAccount, pollIntervalMs: null, sweepIntervalMs: null },
    Date.now(),
  );
}

function startDelivery(
  { connections, keys, drainQueue, drainer, clock, onError }: Parts,
  stack: AsyncDisposableStack,
): void {
  const worker = createDrainWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    queue: drainQueue,
    concurrency: drainsAtOnce,
    drain: drainer.drain,
    now: clock.now,
    onError,
  });
  stack.defer(() => worker.close());
}

async function startPolling(config: Config, parts: Parts, stack: AsyncDisposableStack): Promise<void> {
  const { stores, clock, logger, metrics, waker, pollQueue, watch, keys, connections, onError } = parts;
  const poll = createAccountPoller({
    ...stores,
    clock,
    random: parts.random,
    partner: config.polling,
    async onEvents(account, events) {
      for (const { type } of events) metrics.events.inc({ type });
      await waker.wakeMatching(account, events);
    },
    afterPoll: waker.wakeLagging,
    onRequest: (endpoint, code) => metrics.partnerRequests.inc({ endpoint, code }),
    onQuarantined(account, records) {
      metrics.quarantined.inc({ account }, records);
      logger.warn({ account, records }, 'poll.quarantined');
    },
    onPoll: reportPoll(logger, metrics),
    onUnknownAccount: pollQueue.unschedule,
  });
  const worker = createPollWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    polling: stores.polling,
    holder: randomUUID(),
    concurrency: pollsAtOnce,
    async poll(job, signal) {
      await watch.check();
      if (watch.problem() === null) await poll(job, signal);
    },
    onError,
  });
  stack.defer(() => worker.close());
  for (const { account, pollIntervalMs } of await stores.accounts.list()) {
    await pollQueue.schedule(account, pollIntervalMs);
    await waker.wakeLagging(account);
  }
}

// What has to be looked after whether or not anything happens.
function startUpkeep(config: Config, parts: Parts, stack: AsyncDisposableStack): void {
  const { watch, stores, clock, logger, onError } = parts;
  let told = false;
  const look = setInterval(() => {
    watch
      .check()
      .then(() => {
        const problem = watch.problem();
        if (problem !== null && !told) logger.fatal({ problem }, 'store.emptied');
        told = problem !== null;
      })
      .catch(onError);
  }, upkeepMs);
  const trim = setInterval(() => {
    trimLogs(stores, clock.now() - config.eventRetentionMs).catch(onError);
  }, trimEveryMs);
  stack.defer(() => {
    clearInterval(look);
    clearInterval(trim);
  });
}

async function startApi(
  config: Config,
  { version, logger }: DaemonDeps,
  parts: Parts,
  stack: AsyncDisposableStack,
): Promise<string> {
  const { storesOn, connections, metrics, watch, clock, pollQueue, drainQueue, drainer, problems, egress } =
    parts;
  const stores = storesOn(connections.failFast());
  const api = await createApi({
    ...stores,
    version,
    logger,
    apiToken: config.apiToken,
    metrics: metrics.registry,
    now: clock.now,
    checkUrl: (url) => checkCallbackUrl(url, { allowHttp: config.delivery.allowHttp, policy: egress }),
    liveness: () => ({ live: true, reasons: [] }),
    readiness: createReadiness(connections.failFast(), watch, problems),
    mutationsAllowed: watch.problem,
    beforeScrape: () => collectSubscriptions(stores, metrics),
    hooks: {
      async accountSaved({ account, pollIntervalMs }) {
        await pollQueue.schedule(account, pollIntervalMs);
        await pollQueue.pollNow(account, 'delta');
      },
      accountRemoved: pollQueue.unschedule,
      pollNow: pollQueue.pollNow,
      wake: (account, subscription) => drainQueue.wake(account, [subscription]),
      ping: drainer.ping,
      replay: () => Promise.reject(new Error('not yet')),
      replayProgress: () => Promise.resolve(null),
    },
  });
  stack.defer(() => api.close());
  return api.listen({ host: config.http.host, port: config.http.port });
}

async function trimLogs({ accounts, log }: Parts['stores'], before: number): Promise<void> {
  for (const { account } of await accounts.list()) await log.trim(account, before);
}
