import { createApi } from '../api/api.ts';
import type { Api } from '../api/server/api-instance.ts';
import type { Door } from '../api/server/door.ts';
import { createMonitoring } from '../api/operation/monitoring.ts';
import type { Config } from '../config/config.ts';
import type { DaemonDeps, Parts } from './parts.ts';
import { createDashboard } from '../dashboard/dashboard.ts';
import { createHostLookup } from '../egress/host-lookup.ts';
import { createReplayer } from '../delivery/replay/start-replay.ts';
import { checkCallbackUrl, resolveCallbackHost } from '../egress/url-policy.ts';
import { collectGauges } from '../monitoring/gauges.ts';
import { apiConnectionsMax, openFilesMax } from './open-files.ts';
import { readQueueState } from '../redis/jobs/queue-state.ts';
import { createReadiness } from '../monitoring/readiness.ts';
import type { Part } from './stop-parts.ts';

const resolveMs = 1_000;
// A hundred thousand events take about a second.
const replayCountMax = 500_000;
const endMs = 12_000;
// Whoever has the port for itself needs a few.
const probesMax = 100;

/** Serves the API and the pages behind this door. What ends it is added to `workers`. */
export async function startApi(
  config: Config,
  { version }: DaemonDeps,
  parts: Parts,
  workers: Part[],
  door: Door,
): Promise<void> {
  const { storesOn, connections, watch, clock, pollQueue, drainQueue, drainer, egress } = parts;
  const stores = storesOn(connections.failFast());
  const lookup = createHostLookup();
  async function checkUrl(text: string) {
    const checked = checkCallbackUrl(text, { allowHttp: config.delivery.allowHttp, policy: egress });
    return checked.ok
      ? resolveCallbackHost(checked.url, { policy: egress, lookup, timeoutMs: resolveMs })
      : checked;
  }
  const replayer = createReplayer({
    ...stores,
    queue: drainQueue,
    countMax: replayCountMax,
    now: clock.now,
  });
  const api = await createApi({
    ...stores,
    version,
    door,
    dashboard: createDashboard(),
    readQueues: () =>
      Promise.all(
        [pollQueue.queue, drainQueue.queue].map((queue) =>
          readQueueState(queue, connections.failFast(), Date.now()),
        ),
      ),
    ...createProbes(parts),
    apiToken: config.apiToken,
    partnerMaxRps: config.polling.maxRps,
    now: clock.now,
    checkUrl,
    limits: { connections: apiConnectionsMax(openFilesMax()) },
    trustedProxies: config.trustedProxies,
    async storeProblem() {
      await watch.check();
      return watch.problem();
    },
    hooks: {
      async accountSaved({ account, pollIntervalMs }) {
        await pollQueue.schedule(account, pollIntervalMs);
        await pollQueue.pollNow(account, 'delta');
      },
      accountRemoved: pollQueue.unschedule,
      pollNow: pollQueue.pollNow,
      wake: (account, subscription) => drainQueue.wake(account, [subscription]),
      ping: drainer.ping,
      replay: replayer.start,
      replayProgress: replayer.progress,
    },
  });
  await serve(api, 'api', door, workers);
}

/** Serves health and metrics alone behind this door, whatever the roles. */
export async function startMonitoring(
  { trustedProxies }: Config,
  parts: Parts,
  workers: Part[],
  door: Door,
): Promise<void> {
  const limits = { connections: probesMax };
  const monitoring = await createMonitoring({ ...createProbes(parts), limits, trustedProxies, door });
  await serve(monitoring, 'monitoring', door, workers);
}

// What supervisors and Prometheus ask of any process.
function createProbes({ storesOn, connections, metrics, watch, clock, keys, secrets, work, logger }: Parts) {
  const redis = connections.failFast();
  const stores = storesOn(redis);
  // There is no account without a name, and asking for it takes no more than the others' being there.
  const readAccounts = () => stores.accounts.exists('');
  const otherProblems = () => [secrets.problem(), ...work.problems()];
  const readiness = createReadiness(redis, watch, keys.probe, otherProblems, readAccounts);
  const deps = { ...stores, redis, watch, readiness, now: clock.now };
  return {
    logger,
    liveness: work.liveness,
    readiness,
    metrics: metrics.registry,
    beforeScrape: () => collectGauges(deps, metrics),
  };
}

async function serve(app: Api, name: string, door: Door, workers: Part[]): Promise<void> {
  workers.push({ name, deadlineMs: endMs, needsRedis: false, stop: () => app.close() });
  await door.handOver(app);
}
