import { createBearers } from '../../callbacks/bearers.ts';
import { createTokenRequest } from '../../callbacks/request-token.ts';
import { createCallbackClient } from '../../callbacks/callback-client.ts';
import type { Config } from '../../config/config.ts';
import { createDeliverers } from '../../delivery/account/deliverers.ts';
import { createDeliverQueue } from '../../delivery/deliver-queue.ts';
import { createDeliverWorker } from '../../delivery/deliver-worker.ts';
import { createHeldSubscriptions, createOutageStore } from '../../delivery/held.ts';
import { createDisabler } from '../../delivery/store/disable-subscription.ts';
import { clocksContradict, oldestKept } from '../upkeep/retention.ts';
import { createEndExpired } from '../../delivery/expiry.ts';
import { createChallengeTurns, createVerifier } from '../../delivery/ownership.ts';
import { sendPing } from '../../delivery/ping.ts';
import { createWaker } from '../../delivery/wake.ts';
import { timeoutBounds } from '../../subscriptions/options/limits.ts';
import type { HostLookup } from '../../names/host-lookup.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import { createEgressPolicy } from '../../egress/address-policy.ts';
import { createWorkTally } from '../../monitoring/work-tally.ts';
import { observeDelivery, type DeliveryObserver } from '../../monitoring/observe-delivery.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { Outage } from '../../proxy/proxy-watch.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { clientEndMs, type Part } from '../stop-parts.ts';
import { createProxyTunnels } from './proxies.ts';
import type { OpenStore } from './open-store.ts';
import type { Overrides } from './overrides.ts';
import type { Stores } from './stores.ts';

// Maximum number of accounts that a process delivers to at once: one whose endpoint hangs keeps its place
// until the callback times out.
const accountsAtOnceMax = 5_000;
// Maximum number of callbacks in flight in this process.
const callbacksAtOnceMax = 8_000;

// Milliseconds that runs may take to end. Stores and connections need a few seconds more, and supervisors
// allow 30 seconds in all.
const endMs = 20_000;
// Milliseconds after which callbacks still in flight are aborted; the rest of `endMs` is for recording
// their outcomes.
const abortMs = 17_000;

interface DeliveryPartsDeps extends OpenStore {
  readonly stores: Stores;
  readonly tracing: Tracing;
  readonly lookup: HostLookup;
}

/** Makes the queue, the callback client and the deliverers, and adds the parts to close to `closing`. */
export function createDeliveryParts(
  config: Config,
  deps: DeliveryPartsDeps,
  closing: Part[],
  overrides: Overrides,
) {
  const { connections, redis, keys, clock, sealer, random, version, stores, onError, lookup } = deps;
  const deliverQueue = createDeliverQueue(connections.failFast(), keys.queues, onError);
  const waker = createWaker({
    redis,
    keys,
    store: stores.deliveries,
    queue: deliverQueue,
    readOn: (account) => deliverers.readOn(account),
    now: clock.now,
  });
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
    wake: waker.wake,
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
    { name: 'delivery queue', deadlineMs: clientEndMs, needsRedis: true, stop: deliverQueue.close },
    { name: 'callback client', deadlineMs: clientEndMs, needsRedis: false, stop: callbacks.close },
  );
  if (tunnels !== null)
    closing.push({ name: 'proxy', deadlineMs: clientEndMs, needsRedis: false, stop: tunnels.close });
  const accountsAtOnce = overrides.accountsAtOnce ?? accountsAtOnceMax;
  const runs = createWorkTally({
    busyFrom: accountsAtOnce,
    requestMs: Math.max(timeoutMs, timeoutBounds.max),
    now: () => performance.now(),
  });
  const attemptsMax = config.delivery.retryMs.length + 1;
  const observer = observeDelivery({ ...deps, tally: runs, attemptsMax });
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
      wake: waker.wake,
    });
  /** Ends expired subscriptions in these stores. */
  const endExpiredOver = (over: Pick<Stores, 'subscriptions'>, client: RedisClient) =>
    createEndExpired({
      subscriptions: over.subscriptions,
      disable: createDisabler(client, keys),
      wake: waker.wake,
      onDisabled: reported.onDisabled,
      onRemoved: observer.onRemovedExpired,
      before: () => oldestKept(deps.retentionAt(clock.now())),
      isClockRight: () => !clocksContradict(deps.retentionAt(clock.now())),
      now: clock.now,
    });
  const sending = {
    client: callbacks,
    bearers,
    wallClock: Date.now,
    now: clock.now,
    attemptDetails: config.delivery.attemptDetails,
    publicUrl: config.publicUrl,
  };
  const delivererDeps = {
    ...config.delivery,
    ...sending,
    callbacksAtOnce: overrides.callbacksAtOnce ?? callbacksAtOnceMax,
    store: stores.deliveries,
    journal: stores.journal,
    replays: stores.replays,
    blocks: stores.blocks,
    log: stores.log,
    filings: stores.present,
    sealer,
    verifier: verifierOver(stores, redis),
    endExpired: endExpiredOver(stores, redis),
    random,
    reportStanding: deps.reportStanding,
    heldUntil: held.heldUntil,
    ...reported,
  };
  const deliverers = createDeliverers(delivererDeps);
  /** Starts a worker that delivers until the returned part is stopped. */
  function startDelivery(): Part {
    const traced = observer.traced(deliverers.run);
    const worker = createDeliverWorker({
      connection: connections.blocking(),
      prefix: keys.queues,
      queue: deliverQueue,
      concurrency: accountsAtOnce,
      run: (...args) => runs.counted(() => traced(...args)),
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
    deliverQueue,
    waker,
    egress,
    tunnels,
    callbacks,
    runs,
    deliverers,
    /** Deliverers that know nothing yet, as those of another process. */
    newDeliverers: () => createDeliverers(delivererDeps),
    ping: (subscription: Subscription) => sendPing({ ...sending, journal: stores.journal }, subscription),
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
