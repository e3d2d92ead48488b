import { eachSlice } from '../accounts/account-slices.ts';
import type { Config } from '../config/config.ts';
import { openDoors, startApi, startMonitoring, type Doors } from './ports.ts';
import { createParts, type Parts } from './parts.ts';
import type { DaemonDeps, PartsDeps } from './parts/open-store.ts';
import { runUpkeep, upkeepRounds } from './upkeep/upkeep-rounds.ts';
import { putDefaultAccount } from './upkeep/default-account.ts';
import { inParts } from '../memory/in-parts.ts';
import { createMetrics } from '../monitoring/metrics.ts';
import { missingFixes } from '../monitoring/node-security.ts';
import { createPatientStart } from './patient-start.ts';
import { unlessUnreadable } from '../redis/unreadable-record.ts';
import type { Part } from './stop-parts.ts';

/**
 * A running daemon. Disposing of it stops taking work, finishes work in flight and closes every connection.
 */
export interface Daemon extends AsyncDisposable {
  /** Address of the API, or null if the process lacks the role `api`. */
  readonly url: string | null;
}

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
  const { node } = process.versions;
  const outdated = missingFixes(node);
  metrics.buildInfo.set({ version: deps.version, node, outdated: String(outdated !== null) }, 1);
  if (outdated !== null) deps.logger.warn({ node, problem: outdated }, 'node.outdated');
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
  const rounds = await upkeepRounds(config, parts);
  // After every step that may fail: a worker that cannot close while Redis is away would resume once Redis is
  // back.
  if (delivers) workers.push(parts.startDelivery());
  if (polls) workers.push(parts.startPolling());
  stack.defer(runUpkeep(rounds, parts.onError));
  if (doors.api !== null) await startApi(config, parts, workers, doors.api);
  if (doors.monitoring !== null) await startMonitoring(config, parts, workers, doors.monitoring);
  return { redis: parts.connections.describe, running: stack.move() };
}

// Maximum number of accounts that are scheduled or woken at once.
const startedAtOnce = 50;

async function wakeAll({ stores, waker }: Parts): Promise<void> {
  for await (const { accounts } of eachSlice(stores.accounts.slice))
    await inParts(accounts, startedAtOnce, ({ account }) => unlessUnreadable(() => waker.wake(account)));
}

async function scheduleAll({ stores, pollQueue, waker }: Parts): Promise<void> {
  await stores.accounts.finishRemovals();
  for await (const { accounts } of eachSlice(stores.accounts.slice)) {
    await inParts(await pollQueue.outdated(accounts), startedAtOnce, ({ account, pollIntervalMs }) =>
      pollQueue.schedule(account, pollIntervalMs),
    );
    await inParts(accounts, startedAtOnce, ({ account }) => unlessUnreadable(() => waker.wakeIfDue(account)));
  }
}
