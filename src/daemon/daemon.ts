import { eachSlice } from '../accounts/account-slices.ts';
import type { Account } from '../accounts/account.ts';
import type { Config } from '../config/config.ts';
import { createAccountRounds } from './upkeep/rounds/account-rounds.ts';
import { watchClock } from './upkeep/clock-watch.ts';
import { startApi, startMonitoring } from './start-api.ts';
import { openDoors, type Doors } from './doors.ts';
import { createParts, type Parts } from './parts.ts';
import type { DaemonDeps, PartsDeps } from './parts/open-store.ts';
import { createDueTrims } from './upkeep/rounds/due-trims.ts';
import { createDueMends } from './upkeep/rounds/due-mends.ts';
import { createDueWarnings } from './upkeep/rounds/due-warnings.ts';
import { putDefaultAccount } from './upkeep/default-account.ts';
import { listenForCommits } from '../filings/commit/commit-journal.ts';
import { SnapshotLostError } from '../filings/commit/commit-writer.ts';
import { createMetrics } from '../monitoring/metrics.ts';
import { createPatientStart } from './patient-start.ts';
import { failureOf } from '../redis/unreadable-record.ts';
import { clocksContradict, oldestKept } from './upkeep/retention.ts';
import { startShardUpkeep } from './upkeep/shard-upkeep.ts';
import type { Part } from './stop-parts.ts';

/**
 * A running daemon. Disposing of it stops taking work, finishes work in flight and closes every connection.
 */
export interface Daemon extends AsyncDisposable {
  /** Where the API listens; null without the role `api`. */
  readonly url: string | null;
}

const upkeepMs = 2_000;
const retentionEveryMs = 60_000;
// Milliseconds between two looks at some accounts.
const roundEveryMs = 3_000;
// Milliseconds between two looks at what indexes over all accounts hold of an account.
const publicKeysEveryMs = 3_600_000;
const rejectingEveryMs = 600_000;
const catchUpMs = 5_000;
// Milliseconds for which a commit is checked again: no replica lags longer. The next poll of this process
// finds older commits that were lost.
const caughtUpMs = 60_000;

/**
 * Starts the parts that the configured roles name. The ports are open at once, and answer that the daemon is
 * starting until it has started. The start waits for Redis as long as `deps.signal` allows, also when Redis
 * goes away on the way. Rejects when Redis is not safe (UnsafeRedisError) or not this daemon's
 * (StoreFormatError, WrongKeyError), when a port is not available, and when the wait is over. Then nothing is
 * left running.
 */
export async function startDaemon(config: Config, deps: DaemonDeps): Promise<Daemon> {
  await using stack = new AsyncDisposableStack();
  const metrics = createMetrics(deps.linesLost);
  const start = createPatientStart(deps.logger, deps.signal);
  const doors = await openDoors(config, { reason: start.reason, metrics: metrics.registry }, stack);
  const { roles } = config;
  const [url, metricsUrl] = [doors.api?.url ?? null, doors.monitoring?.url ?? null];
  deps.logger.info({ url, metricsUrl }, 'daemon.listening');
  const attempt = { ...deps, metrics, untilRedis: start.untilRedis };
  const { redis, running } = await start.run(() => startParts(config, attempt, doors));
  stack.use(running);
  deps.logger.info({ url, metricsUrl, roles: [...roles], redis }, 'daemon.started');
  const all = stack.move();
  return { url, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

// One attempt to start, which leaves nothing running when it fails.
async function startParts(config: Config, deps: PartsDeps, doors: Doors) {
  await using stack = new AsyncDisposableStack();
  const parts = await createParts(config, deps, stack);
  // The parts that take work stop first, all at once: no new work may begin while another part stops.
  const workers: Part[] = [];
  stack.defer(() => parts.stopParts(workers));
  const { stores, pollQueue, clock } = parts;
  // At every start, so that a new partner key in the environment takes effect.
  if (config.defaultAccount !== null)
    await putDefaultAccount({ ...stores, pollQueue, now: clock.now }, config.defaultAccount);
  const [polls, delivers] = [config.roles.has('poll'), config.roles.has('deliver')];
  if (delivers) await wakeAll(parts);
  if (polls) await scheduleAll(parts);
  if (polls) stack.defer(await startCatchingUp(parts));
  // After every step that may fail: a worker that cannot close while Redis is away would resume once Redis is
  // back.
  if (delivers) workers.push(parts.startDelivery());
  if (polls) workers.push(parts.startPolling());
  stack.defer(watchClock({ ...parts, wallClock: Date.now }));
  stack.defer(startUpkeep(config, parts));
  stack.defer(startShardUpkeep(config, parts));
  if (doors.api !== null) await startApi(config, parts, workers, doors.api);
  if (doors.monitoring !== null) await startMonitoring(config, parts, workers, doors.monitoring);
  return { redis: parts.connections.describe, running: stack.move() };
}

// Maximum number of accounts that are scheduled or woken at once.
const startedAtOnce = 50;

async function forEach(
  accounts: readonly Account[],
  work: (one: Account) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < accounts.length; from += startedAtOnce)
    await Promise.all(accounts.slice(from, from + startedAtOnce).map(work));
}

async function wakeAll({ stores, waker }: Parts): Promise<void> {
  for await (const { accounts } of eachSlice(stores.accounts.slice))
    await forEach(accounts, ({ account }) => failureOf(() => waker.wakeBlocked(account)));
}

async function scheduleAll({ stores, pollQueue, waker }: Parts): Promise<void> {
  await stores.accounts.finishRemovals();
  for await (const { accounts } of eachSlice(stores.accounts.slice)) {
    await forEach(await pollQueue.outdated(accounts), ({ account, pollIntervalMs }) =>
      pollQueue.schedule(account, pollIntervalMs),
    );
    await forEach(accounts, ({ account }) => failureOf(() => waker.keepAwake(account)));
  }
}

// Starts the upkeep that does not depend on events. Returns the function that ends it.
function startUpkeep(config: Config, parts: Parts): () => void {
  const { watch, work, rewriter, stores, clock, logger, onError } = parts;
  const before = () => oldestKept(parts.retentionAt(clock.now()));
  const { logBytesMax: bytesMax } = config;
  const onDropped = (account: string, events: number) =>
    logger.warn({ account, events, maxBytes: bytesMax }, 'log.full');
  const trim = createDueTrims({ ...stores, before, bytesMax, now: clock.now, onDropped });
  const isClockRight = () => !clocksContradict(parts.retentionAt(clock.now()));
  const warn = createDueWarnings({ ...parts, ...stores, isClockRight, now: () => performance.now() });
  const mends = [
    { everyMs: publicKeysEveryMs, look: stores.publicKeys.mend },
    { everyMs: rejectingEveryMs, look: (account: string) => stores.rejecting.mend(account, clock.now()) },
  ];
  const mend = createDueMends(mends, () => performance.now());
  const rounds = createAccountRounds({ ...parts, ...stores, trim, warn, mend, now: clock.now });
  let told = false;
  const look = setInterval(() => {
    watch
      .check()
      .then(() => {
        const problem = watch.problem();
        if (problem !== null && !told) logger.fatal({ problem }, 'store.emptied');
        told = problem !== null;
      })
      .then(work.look)
      .catch(onError);
  }, upkeepMs);
  const rewrite = setInterval(() => {
    rewriter.look().catch(onError);
  }, upkeepMs);
  let waits = false;
  const retention = setInterval(() => {
    const facts = parts.retentionAt(clock.now());
    const waited = waits;
    waits = clocksContradict(facts);
    if (waits && !waited) logger.warn({ redisAheadMs: facts.now - facts.wallNow }, 'retention.waits');
  }, retentionEveryMs);
  const round = setInterval(() => {
    if (!config.roles.has('poll')) return;
    rounds.look().catch(onError);
  }, roundEveryMs);
  return () => {
    clearInterval(round);
    clearInterval(look);
    clearInterval(rewrite);
    clearInterval(retention);
  };
}

// Listens for the commits of other processes. Restores own commits that Redis has lost, also where another
// process polls the account.
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
    await failureOf(async () => {
      const { generation } = await polling.read(account);
      await snapshot.catchUp(account, generation, clock.now()).catch((error: unknown) => {
        if (!(error instanceof SnapshotLostError)) throw error;
      });
    });
  }
}
