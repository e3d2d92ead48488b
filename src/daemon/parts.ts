import { eachName } from '../accounts/account-slices.ts';
import { listSealedAccounts } from '../accounts/sealed-accounts.ts';
import type { ApiDeps } from '../api/deps.ts';
import type { Config } from '../config/config.ts';
import { createOutageStore, type OutageStore } from '../delivery/held.ts';
import { createCommitJournal } from '../filings/commit/commit-journal.ts';
import type { SnapshotOptions } from '../filings/snapshot-store.ts';
import { createHostLookup } from '../names/host-lookup.ts';
import { createGauges } from '../monitoring/gauges/gauges.ts';
import { createWorkWatch } from '../monitoring/work-watch.ts';
import { missingFixes } from '../monitoring/node-security.ts';
import { createReadiness } from '../monitoring/readiness.ts';
import { readAgain } from '../polling/store/missed-read-store.ts';
import { isUrlTaken, type Tunnels } from '../proxy/tunnels.ts';
import { createAofRewriter } from '../redis/durability/aof-rewriter.ts';
import { listSealedSubscriptions } from '../subscriptions/store/sealed-subscriptions.ts';
import { createSubscriptionReads } from '../subscriptions/store/subscription-reads.ts';
import { noTracing, type Tracing } from '../tracing/tracing.ts';
import { createDeliveryParts } from './parts/delivery-parts.ts';
import { openStore, type PartsDeps } from './parts/open-store.ts';
import type { Overrides } from './parts/overrides.ts';
import { createPollingParts } from './parts/polling-parts.ts';
import { createStores } from './parts/stores.ts';
import { clientEndMs, createPartStopper, type Part } from './stop-parts.ts';
import { releaseLost } from './upkeep/release-lost.ts';
import { createSecretUpkeep } from './upkeep/secret-upkeep.ts';

/** The clients, stores and queues that the roles of one process share. */
export type Parts = Awaited<ReturnType<typeof createParts>>;

/**
 * Makes every client, store and queue of the process, once; the stack closes them. Rejects when Redis cannot
 * be reached, is not safe (UnsafeRedisError), holds another format (StoreFormatError) or was sealed with
 * another key (WrongKeyError). Tests and benchmarks use it too, with `overrides`.
 */
export async function createParts(
  config: Config,
  deps: PartsDeps,
  stack: AsyncDisposableStack,
  overrides: Overrides = {},
) {
  const store = await openStore(config, deps, stack, overrides);
  const { connections, redis, keys, clock, observer, onError, onUnreadable } = store;

  const journal = createCommitJournal(redis, keys, onUnreadable);
  async function catchUp(account: string, generation: string, restated: readonly string[]): Promise<void> {
    await readAgain({ ...stores, now: clock.now }, account, generation, restated);
    await delivery.waker.wake(account);
  }
  const committing: Partial<SnapshotOptions> = {
    journal,
    async onRestored(restoration, generation) {
      observer.onRestored(restoration);
      await catchUp(restoration.account, generation, restoration.restated);
    },
  };
  const stores = createStores(redis, config, store, committing);
  async function* sealedRecords() {
    yield* listSealedAccounts(redis, keys);
    yield* listSealedSubscriptions(redis, keys, eachName(stores.accounts.slice));
  }
  const secrets = createSecretUpkeep({ ...config, ...deps, ...store, sealedRecords });
  await secrets.begin();

  const closing: Part[] = [];
  const stopParts = createPartStopper({ logger: deps.logger, redisAway: connections.untilAway });
  stack.defer(() => stopParts(closing));
  const tracing = await startTracing(config, deps.version, onError);
  closing.push({ name: 'tracing', deadlineMs: clientEndMs, needsRedis: false, stop: tracing.close });
  const lookup = createHostLookup();
  const above = { ...store, stores, tracing, lookup };
  const delivery = createDeliveryParts(config, above, closing, overrides);
  const polling = createPollingParts(config, { ...above, ...delivery }, closing);

  const { runs, deliverQueue } = delivery;
  const { polls, pollQueue } = polling;
  const queues = [
    { name: 'poll', tally: polls, queue: pollQueue.jobs },
    { name: 'deliver', tally: runs, queue: deliverQueue.jobs },
  ] as const;
  const work = createWorkWatch({
    ...deps,
    redis: connections.failFast(),
    takenKey: keys.taken,
    queues: queues
      .filter(({ name }) => config.roles.has(name))
      .map(({ name, tally, queue }) => ({ name, tally, key: (part: string) => queue.toKey(part) })),
    storeProblem: store.watch.problem,
    isConnected: () => connections.blocking().status === 'ready',
    now: () => performance.now(),
    wallClock: Date.now,
  });
  const rewriter = createAofRewriter({
    redis,
    keys,
    now: () => performance.now(),
    ...observer,
    onRun: () => releaseLost({ ...deps, ...stores, ...delivery, ...polling }),
    onError,
  });
  const failFast = connections.failFast();
  const promptStores = failFast === redis ? stores : createStores(failFast, config, store, committing);
  const readiness = createReadiness({
    redis: failFast,
    watch: store.watch,
    keys,
    otherProblems: () => [secrets.problem(), ...work.problems()],
    acceptsUnsafe: config.redis.unsafe,
    notes: () => [
      missingFixes(process.versions.node),
      outageNote('EGRESS_PROXY', delivery.tunnels),
      outageNote('PARTNER_PROXY', polling.partnerTunnels),
    ],
    // No account has an empty name. The look-up fails as any other does when the key of the accounts cannot
    // be read.
    readAccounts: () => promptStores.accounts.exists(''),
    whyAway: connections.whyAway,
  });
  const waitsFor = readWaits(config, createOutageStore(failFast, keys));
  const refreshGauges = createGauges({
    ...promptStores,
    ...store,
    redis: failFast,
    reads: createSubscriptionReads(failFast, keys, store.sealer),
    perAccount: config.metricsPerAccount,
    waitsFor,
    readiness,
    requestsInTurn: () => polling.hostBudgets?.waiting() ?? 0,
    now: clock.now,
  });
  return {
    ...above,
    ...delivery,
    ...polling,
    promptStores,
    readiness,
    waitsFor,
    refreshGauges,
    journal,
    secrets,
    work,
    rewriter,
    stopParts,
  };
}

// Another process may deliver, so the reason is read from Redis; without a proxy nothing is read.
function readWaits({ proxies }: Config, outages: OutageStore): ApiDeps['waitsFor'] {
  if (proxies.egress === null) return () => Promise.resolve(null);
  return async () => {
    const detail = await outages.read().catch(() => null);
    if (detail === null) return null;
    return (url) =>
      isUrlTaken(proxies.noProxy, url) ? `${detail} Callbacks wait until it works again.` : null;
  };
}

// A proxy that is down makes no process unready: the API, and what passes by the proxy, works on.
function outageNote(variable: string, tunnels: Tunnels | null): string | null {
  const outage = tunnels?.outage() ?? null;
  if (outage === null) return null;
  const seconds = Math.round(outage.lastsMs / 1000);
  return `${outage.detail} Requests wait for it, since ${seconds} s; see ${variable}.`;
}

// Loads the tracing libraries only if tracing is configured.
async function startTracing(
  { tracing }: Config,
  version: string,
  onError: (error: Error) => void,
): Promise<Tracing> {
  if (tracing === null) return noTracing;
  const { createOtlpTracing } = await import('../tracing/otlp-tracing.ts');
  return createOtlpTracing(tracing, { version, now: Date.now, onError });
}
