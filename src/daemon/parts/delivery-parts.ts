import { createBearers } from '../../callbacks/bearers.ts';
import { createTokenRequest } from '../../callbacks/request-token.ts';
import { createCallbackClient } from '../../callbacks/callback-client.ts';
import type { Config } from '../../config/config.ts';
import { createDrainQueue } from '../../delivery/drain-queue.ts';
import { createDrainWorker } from '../../delivery/drain-worker.ts';
import { createSubscriptionDrainer } from '../../delivery/drain/drainer.ts';
import { createHeldSubscriptions, createOutageStore } from '../../delivery/held.ts';
import { createDisabler } from '../../delivery/store/disable-subscription.ts';
import { clocksContradict, oldestKept } from '../upkeep/retention.ts';
import { createEndExpired } from '../../delivery/expiry.ts';
import { createChallengeTurns, createVerifier } from '../../delivery/ownership.ts';
import { createLaggards } from '../../delivery/lagging/laggards.ts';
import { createMatchingSubscriptions } from '../../subscriptions/matching/matching-subscriptions.ts';
import { createSubscriptionWaker } from '../../delivery/wake.ts';
import { timeoutBounds } from '../../subscriptions/options/limits.ts';
import type { HostLookup } from '../../names/host-lookup.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import { createEgressPolicy } from '../../egress/address-policy.ts';
import { createWorkTally } from '../../monitoring/work-tally.ts';
import { observeDelivery, type DeliveryObserver } from '../../monitoring/observe-delivery.ts';
import type { Outage } from '../../proxy/proxy-watch.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { clientEndMs, type Part } from '../stop-parts.ts';
import { createProxyTunnels } from './proxies.ts';
import type { OpenStore } from './open-store.ts';
import type { Overrides } from './overrides.ts';
import type { Stores } from './stores.ts';

/**
 * Maximum number of drains in a process: a drain whose endpoint hangs keeps its place until the callback
 * times out.
 */
const drainsAtOnceMax = 2_000;

// Milliseconds that drains may take to end. Stores and connections need a few seconds more, and supervisors
// allow 30 seconds in all.
const endMs = 20_000;
// Milliseconds after which callbacks still in flight are aborted; the rest of `endMs` is for recording their
// outcomes.
const abortMs = 17_000;

interface DeliveryPartsDeps extends OpenStore {
  readonly stores: Stores;
  readonly tracing: Tracing;
  readonly lookup: HostLookup;
}

/** Makes the drain queue, the callback client and the drainer, and adds the parts to close to `closing`. */
export function createDeliveryParts(
  config: Config,
  deps: DeliveryPartsDeps,
  closing: Part[],
  overrides: Overrides,
) {
  const { connections, shards, redis, keys, clock, sealer, random, version, stores, onError, lookup } = deps;
  const drainQueue = createDrainQueue(connections.failFast(), shards, onError);
  const { deliveries, filters, filtersOf } = stores.subscriptions;
  const laggards = createLaggards({ ...clock, redis, keys, log: stores.log, filtersOf, deliveries });
  const matching = createMatchingSubscriptions({ redis, keys, filters, now: clock.now });
  const waker = createSubscriptionWaker({ ...stores, matching, laggards, queue: drainQueue });
  const egress = createEgressPolicy({ allowCidrs: config.delivery.allowCidrs });
  const outages = createOutageStore(redis, keys);
  const { egress: proxy, egressResolves: resolves, noProxy } = config.proxies;
  const { timeoutMs } = config.delivery;
  const onOutage = (outage: Outage | null) =>
    void Promise.all([outages.write(outage?.detail ?? null), outage === null ? held.release() : null]).catch(
      onError,
    );
  const tunnels = createProxyTunnels('egress', proxy, { noProxy, resolves, timeoutMs, onOutage }, deps);
  const held = createHeldSubscriptions({
    isHeld: (url) => tunnels !== null && tunnels.outage() !== null && tunnels.takesUrl(url),
    wake: drainQueue.wake,
    now: clock.now,
    random,
  });
  const callbacks = createCallbackClient({
    policy: egress,
    tunnels: tunnels ?? undefined,
    lookup,
    allowHttp: config.delivery.allowHttp,
    timeoutMs,
    userAgent: `filing-webhooks/${version}`,
  });
  closing.push(
    { name: 'drain queue', deadlineMs: clientEndMs, needsRedis: true, stop: drainQueue.close },
    { name: 'callback client', deadlineMs: clientEndMs, needsRedis: false, stop: callbacks.close },
  );
  if (tunnels !== null)
    closing.push({ name: 'proxy', deadlineMs: clientEndMs, needsRedis: false, stop: tunnels.close });
  const drainsAtOnce = overrides.drainsAtOnce ?? drainsAtOnceMax;
  const drains = createWorkTally({
    busyFrom: drainsAtOnce,
    requestMs: Math.max(timeoutMs, timeoutBounds.max),
    now: () => performance.now(),
  });
  const attemptsMax = config.delivery.retryMs.length + 1;
  const observer = observeDelivery({ ...deps, tally: drains, attemptsMax });
  const bearers = createBearers({
    requestToken: createTokenRequest({ client: callbacks, now: () => performance.now(), random }),
    now: () => performance.now(),
    onTokenRequest: observer.onTokenRequest,
  });
  const reported = alsoCalled(observer, overrides);
  /** Asks endpoints with these stores, whose client is `client`. */
  const verifierOver = (over: Pick<Stores, 'subscriptions' | 'blocks'>, client: RedisClient) =>
    createVerifier({
      client: callbacks,
      bearers,
      wallClock: Date.now,
      now: clock.now,
      publicUrl: config.publicUrl,
      subscriptions: over.subscriptions,
      blocks: over.blocks,
      takeTurn: createChallengeTurns(client, keys),
      disable: createDisabler(client, keys),
      random,
      onVerified: observer.onVerified,
      onUnverified: observer.onUnverified,
      onDisabled: reported.onDisabled,
      wakeMatching: waker.wakeMatching,
    });
  /** Ends expired subscriptions in these stores. */
  const endExpiredOver = (over: Pick<Stores, 'subscriptions'>, client: RedisClient) =>
    createEndExpired({
      subscriptions: over.subscriptions,
      disable: createDisabler(client, keys),
      wakeMatching: waker.wakeMatching,
      onDisabled: reported.onDisabled,
      onRemoved: observer.onRemovedExpired,
      before: () => oldestKept(deps.retentionAt(clock.now())),
      isClockRight: () => !clocksContradict(deps.retentionAt(clock.now())),
      now: clock.now,
    });
  const drainer = createSubscriptionDrainer({
    ...config.delivery,
    publicUrl: config.publicUrl,
    store: stores.delivery,
    replays: stores.replays,
    blocks: stores.blocks,
    log: stores.log,
    filings: stores.present,
    sealer,
    verifier: verifierOver(stores, redis),
    endExpired: endExpiredOver(stores, redis),
    client: callbacks,
    bearers,
    wallClock: Date.now,
    now: clock.now,
    random,
    reportStanding: deps.reportStanding,
    heldUntil: held.heldUntil,
    ...reported,
    wakeMatching: waker.wakeMatching,
  });
  /** Starts a worker that takes drains until the returned part is stopped. */
  function startDelivery(): Part {
    const traced = observer.traced(drainer.drain);
    const worker = createDrainWorker({
      connection: connections.blocking(),
      shards,
      queue: drainQueue,
      concurrency: drainsAtOnce,
      drain: (...args) => drains.counted(() => traced(...args)),
      now: clock.now,
      onError,
    });
    async function stop(): Promise<void> {
      const late = setTimeout(callbacks.abortAll, abortMs);
      try {
        await worker.close();
      } finally {
        clearTimeout(late);
      }
    }
    return { name: 'delivery', deadlineMs: endMs, needsRedis: true, stop };
  }
  return {
    drainQueue,
    waker,
    egress,
    tunnels,
    callbacks,
    drains,
    drainer,
    verifierOver,
    endExpiredOver,
    disable: createDisabler(redis, keys),
    onDisabled: reported.onDisabled,
    startDelivery,
  };
}

// The observer's hooks, each followed by the one that a test or benchmark adds.
function alsoCalled(observer: DeliveryObserver, { onAttempts, onBlocked, onExpired, onDisabled }: Overrides) {
  const both =
    <A extends unknown[]>(first: (...args: A) => void, second: (...args: A) => void = () => undefined) =>
    (...args: A) => {
      first(...args);
      second(...args);
    };
  return {
    onAttempts: both(observer.onAttempts, onAttempts),
    onBlocked: both(observer.onBlocked, onBlocked),
    onExpired: both(observer.onExpired, onExpired),
    onDisabled: both(observer.onDisabled, onDisabled),
    onUndecided: observer.onUndecided,
  };
}
