import { randomUUID } from 'node:crypto';
import type { Config } from './config.ts';
import { watchClock } from './clock-watch.ts';
import { startApi, startMonitoring } from './daemon-api.ts';
import { createParts, type DaemonDeps, type Parts } from './daemon-parts.ts';
import { reportEvents, reportPoll } from './daemon-reports.ts';
import { putDefaultAccount } from './default-account.ts';
import { createDrainWorker } from './delivery/drain-worker.ts';
import { listenForCommits } from './filings/commit-journal.ts';
import { SnapshotLostError } from './filings/snapshot-store.ts';
import { boundedCounts } from './gauges.ts';
import { createAccountPoller } from './polling/account-poller.ts';
import { isPollMissing } from './polling/poll-schedule.ts';
import { createPollWorker } from './polling/poll-worker.ts';
import { clocksContradict, oldestKept } from './retention.ts';
import type { Part } from './stop-parts.ts';

/** A running daemon. Disposing it stops taking work, finishes what is in flight and closes every connection. */
export interface Daemon extends AsyncDisposable {
  /** Where the API listens; null without the role `api`. */
  readonly url: string | null;
}

const upkeepMs = 2_000;
// As often as the retention is long, within these.
const trimEveryMs = { least: 1_000, most: 60_000 };
const repairEveryMs = 3_000;
const catchUpMs = 5_000;
// No replica lags that long; what is lost of earlier commits is found by the next poll of this process.
const caughtUpMs = 60_000;
// What a crash or a failure kept from being woken while a long poll goes on is woken after so long.
const pollUpkeepMs = 30_000;
const pollsAtOnce = 200;
// So many, because a drain whose endpoint hangs keeps its place until the callback times out.
const drainsAtOnce = 2_000;

// How long each part may take to end; the stores and connections behind them need a few seconds more, and there are 30.
const endMs = { polling: 5_000, delivery: 20_000 };

/**
 * Starts the parts that the configured roles name. Rejects when Redis cannot be reached (then nothing is left running)
 * or is not safe (UnsafeRedisError).
 */
export async function startDaemon(config: Config, deps: DaemonDeps): Promise<Daemon> {
  await using stack = new AsyncDisposableStack();
  const parts = await createParts(config, deps, stack);
  // What takes work ends first, all of it at once: nothing new may begin while something else is waited for.
  const workers: Part[] = [];
  stack.defer(() => parts.stopParts(workers));
  const { stores, pollQueue, clock } = parts;
  // At every start, so that a new key in the environment is taken up.
  if (config.defaultAccount !== null)
    await putDefaultAccount({ ...stores, pollQueue, now: clock.now }, config.defaultAccount);
  if (config.roles.has('deliver')) await startDelivery(parts, workers);
  if (config.roles.has('poll')) await startPolling(config, parts, workers);
  stack.defer(watchClock({ ...parts, wallClock: Date.now }));
  stack.defer(startUpkeep(config, parts));
  if (config.roles.has('poll')) stack.defer(await startCatchingUp(parts));
  const url = config.roles.has('api') ? await startApi(config, deps, parts, workers) : null;
  const metricsUrl = await startMonitoring(config, parts, workers);
  deps.logger.info(
    { url, metricsUrl, roles: [...config.roles], redis: parts.connections.describe },
    'daemon.started',
  );
  const running = stack.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function startDelivery(parts: Parts, workers: Part[]): Promise<void> {
  const { connections, keys, drainQueue, drainer, stores, waker, tracing, clock, onError } = parts;
  const worker = createDrainWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    queue: drainQueue,
    concurrency: drainsAtOnce,
    drain: (account, subscription, ...rest) =>
      tracing.drain(account, subscription, () => drainer.drain(account, subscription, ...rest)),
    now: clock.now,
    onError,
  });
  workers.push({ name: 'delivery', deadlineMs: endMs.delivery, needsRedis: true, stop: worker.close });
  for (const { account } of await stores.accounts.list()) await waker.wakeBlocked(account);
}

async function startPolling(config: Config, parts: Parts, workers: Part[]): Promise<void> {
  const {
    stores,
    clock,
    logger,
    metrics,
    tracing,
    waker,
    pollQueue,
    watch,
    keys,
    connections,
    liveness,
    onError,
  } = parts;
  const logPoll = reportPoll(logger, metrics);
  const noteEvents = reportEvents(logger, metrics, config.filingBytesMax);
  const poll = createAccountPoller({
    ...stores,
    clock,
    random: parts.random,
    partner: config.polling,
    filingBytesMax: config.filingBytesMax,
    async onEvents(account, events) {
      noteEvents(account, events);
      tracing.eventsRecorded(account, events);
      await waker.wakeMatching(account, events);
    },
    async upkeep(account) {
      await waker.wakeLagging(account);
      await noteCounts(stores, account, clock.now());
    },
    upkeepMs: pollUpkeepMs,
    onError,
    onRequest(endpoint, code) {
      liveness.requestEnded();
      metrics.partnerRequests.inc({ endpoint, code });
    },
    onQuarantined(account, records) {
      metrics.quarantined.inc({ account }, records);
      logger.warn({ account, records }, 'poll.quarantined');
    },
    onPoll(report) {
      logPoll(report);
      tracing.pollReported(report);
    },
    onUnknownAccount: pollQueue.unschedule,
  });
  const worker = createPollWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    polling: stores.polling,
    holder: randomUUID(),
    concurrency: pollsAtOnce,
    async poll(job, signal) {
      liveness.pollStarted();
      try {
        await watch.check();
        if (watch.problem() !== null) return true;
        return await tracing.poll(job.account, () => poll(job, signal));
      } finally {
        liveness.pollEnded();
      }
    },
    onError,
  });
  workers.push({ name: 'polling', deadlineMs: endMs.polling, needsRedis: true, stop: worker.close });
  await stores.accounts.finishRemovals();
  for (const { account, pollIntervalMs } of await stores.accounts.list()) {
    await pollQueue.schedule(account, pollIntervalMs);
    await waker.wakeLagging(account);
  }
}

async function noteCounts({ snapshot, countHistory }: Parts['stores'], account: string, at: number) {
  await countHistory.note(account, at, async () => boundedCounts(await snapshot.counts(account)));
}

// What has to be looked after whether or not anything happens. Returns what ends it.
function startUpkeep(config: Config, parts: Parts): () => void {
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
  let waits = false;
  const trim = setInterval(
    () => {
      const retention = parts.retentionAt(clock.now());
      const before = oldestKept(retention);
      const waited = waits;
      waits = clocksContradict(retention);
      if (waits && !waited)
        logger.warn({ redisAheadMs: retention.now - retention.wallNow }, 'retention.waits');
      if (before !== null) trimLogs(stores, before).catch(onError);
    },
    Math.max(trimEveryMs.least, Math.min(config.eventRetentionMs, trimEveryMs.most)),
  );
  const repair = setInterval(() => {
    if (config.roles.has('poll')) repairSchedules(parts).catch(onError);
  }, repairEveryMs);
  return () => {
    clearInterval(repair);
    clearInterval(look);
    clearInterval(trim);
  };
}

async function trimLogs({ accounts, log }: Parts['stores'], before: number): Promise<void> {
  for (const { account } of await accounts.list()) await log.trim(account, before);
}

// Hears of the commits of others, and makes up for its own that Redis has lost, also where another process polls the account.
async function startCatchingUp(parts: Parts): Promise<() => void> {
  const { connections, keys, journal, onError } = parts;
  const listen = await listenForCommits(connections.listening(), keys, journal);
  const catchUp = setInterval(() => {
    Promise.all([listen(), catchUpAll(parts)]).catch(onError);
  }, catchUpMs);
  return () => clearInterval(catchUp);
}

async function catchUpAll({ stores: { snapshot, polling }, clock }: Parts): Promise<void> {
  for (const account of snapshot.committedSince(clock.now() - caughtUpMs)) {
    const { generation } = await polling.read(account);
    await snapshot.catchUp(account, generation, clock.now()).catch((error: unknown) => {
      if (!(error instanceof SnapshotLostError)) throw error;
    });
  }
}

async function repairSchedules({ stores, pollQueue, clock, logger }: Parts): Promise<void> {
  const accounts: string[] = [];
  for (const suspect of await pollQueue.suspects(await stores.accounts.list())) {
    const marks = await stores.polling.read(suspect.account);
    if (!isPollMissing(marks, suspect.pollIntervalMs, clock.now())) continue;
    await pollQueue.reschedule(suspect);
    accounts.push(suspect.account);
  }
  if (accounts.length > 0) logger.warn({ accounts }, 'poll.rescheduled');
}
