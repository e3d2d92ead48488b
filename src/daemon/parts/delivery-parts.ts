import { createBearers } from '../../callbacks/bearers.ts';
import { createTokenRequest } from '../../callbacks/request-token.ts';
import { createCallbackClient, type CallbackClient } from '../../callbacks/callback-client.ts';
import { createMailer, type Mailer } from '../../callbacks/mailer.ts';
import type { Config } from '../../config/config.ts';
import { createDeliverers } from '../../delivery/account/deliverers.ts';
import { createDeliverQueue } from '../../delivery/deliver-queue.ts';
import { createDeliverWorker, type DeliverWorkerDeps } from '../../delivery/deliver-worker.ts';
import { createHeldSubscriptions, createOutageStore } from '../../delivery/held.ts';
import { clocksContradict, oldestKept } from '../upkeep/retention.ts';
import { createEndExpired } from '../../delivery/expiry.ts';
import { createVerifier } from '../../delivery/ownership.ts';
import { sendPing } from '../../delivery/ping.ts';
import { createWaker, type Waker } from '../../delivery/wake.ts';
import { timeoutBounds } from '../../subscriptions/options/limits.ts';
import { maskedServer } from '../../egress/smtp-server.ts';
import { createEgressPolicy } from '../../egress/address-policy.ts';
import { createWorkTally } from '../../monitoring/work-tally.ts';
import { observeDelivery } from '../../monitoring/observe-delivery.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { Outage } from '../../proxy/proxy-watch.ts';
import { clientEndMs, type Part } from '../stop-parts.ts';
import { createProxyTunnels } from './proxies.ts';
import type { Overrides } from './overrides.ts';
import type { PartsBase, Stores } from './stores.ts';

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

/** Makes the queue, the callback client and the deliverers, and adds the parts to close to `closing`. */
export function createDeliveryParts(config: Config, deps: PartsBase, closing: Part[], overrides: Overrides) {
  const { connections, redis, keys, clock, random, stores, onError } = deps;
  const deliverQueue = createDeliverQueue(connections.failFast(), keys.queues, onError);
  closing.push(clientPart('delivery queue', true, deliverQueue.close));
  const waker = createWaker({
    redis,
    keys,
    store: stores.deliveries,
    queue: deliverQueue,
    readOn: (account) => deliverers.readOn(account),
    now: clock.now,
  });
  const { egress, tunnels, held, callbacks } = createCallbackParts(config, deps, closing, waker.wake);
  const mailer = createMailPart(config, deps, closing);
  const accountsAtOnce = overrides.accountsAtOnce ?? accountsAtOnceMax;
  const runs = createWorkTally({
    busyFrom: accountsAtOnce,
    requestMs: Math.max(config.delivery.timeoutMs, timeoutBounds.max),
    now: () => performance.now(),
  });
  const attemptsMax = config.delivery.retryMs.length + 1;
  const observed = observeDelivery({ ...deps, tally: runs, attemptsMax });
  const observer = overrides.observe?.(observed) ?? observed;
  const bearers = createBearers({
    requestToken: createTokenRequest({ client: callbacks, now: () => performance.now(), random }),
    now: () => performance.now(),
    onTokenRequest: observer.onTokenRequest,
  });
  const { attemptDetails } = config.delivery;
  const common = { wallClock: Date.now, now: clock.now, random, wake: waker.wake };
  const sending = { client: callbacks, mailer, bearers, attemptDetails, ...common };
  /** Asks endpoints with these stores. */
  const verifierOver = (over: Stores) => createVerifier({ ...over, ...sending, ...observer });
  /** Ends expired subscriptions in these stores. */
  const endExpiredOver = (over: Stores) =>
    createEndExpired({
      ...over,
      ...common,
      ...observer,
      onRemoved: observer.onRemovedExpired,
      before: () => oldestKept(deps.retentionAt(clock.now())),
      isClockRight: () => !clocksContradict(deps.retentionAt(clock.now())),
    });
  const delivererDeps = {
    ...config.delivery,
    ...stores,
    ...sending,
    ...observer,
    traceparent: deps.tracing.traceparent,
    callbacksAtOnce: overrides.callbacksAtOnce ?? callbacksAtOnceMax,
    store: stores.deliveries,
    filings: stores.present,
    sealer: deps.sealer,
    verifier: verifierOver(stores),
    endExpired: endExpiredOver(stores),
    reportStanding: deps.reportStanding,
    heldUntil: held.heldUntil,
  };
  const deliverers = createDeliverers(delivererDeps);
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
    /** Starts a worker that delivers until the returned part is stopped. */
    startDelivery() {
      const traced = observer.traced(deliverers.run);
      return startDelivery([callbacks, ...(mailer === null ? [] : [mailer])], {
        connection: connections.blocking(),
        prefix: keys.queues,
        queue: deliverQueue,
        concurrency: accountsAtOnce,
        run: (...args) => runs.counted(() => traced(...args)),
        now: clock.now,
        onError,
      });
    },
  };
}

// The callback client, with the forward proxy if there is one.
function createCallbackParts(
  { delivery, proxies }: Config,
  deps: PartsBase,
  closing: Part[],
  wake: Waker['wake'],
) {
  const { redis, keys, clock, random, version, onError, lookup } = deps;
  const { allowCidrs, allowHttp, timeoutMs } = delivery;
  const outages = createOutageStore(redis, keys);
  const onOutage = (outage: Outage | null) =>
    void Promise.all([outages.write(outage?.detail ?? null), outage === null ? held.release() : null]).catch(
      onError,
    );
  const { egress: proxy, egressResolves: resolves, noProxy } = proxies;
  const tunnels = createProxyTunnels('egress', proxy, { noProxy, resolves, timeoutMs, onOutage }, deps);
  const held = createHeldSubscriptions({
    isHeld: (url) => tunnels !== null && tunnels.outage() !== null && tunnels.takesUrl(url),
    wake,
    now: clock.now,
    random,
  });
  const egress = createEgressPolicy({ allowCidrs });
  const callbacks = createCallbackClient({
    policy: egress,
    tunnels: tunnels ?? undefined,
    lookup,
    allowHttp,
    timeoutMs,
    userAgent: `filing-webhooks/${version}`,
  });
  closing.push(clientPart('callback client', false, callbacks.close));
  if (tunnels !== null) closing.push(clientPart('proxy', false, tunnels.close));
  return { egress, tunnels, held, callbacks };
}

// Null without a mail server.
function createMailPart(
  { mail, delivery }: Config,
  { logger }: Pick<PartsBase, 'logger'>,
  closing: Part[],
): Mailer | null {
  if (mail === null) return null;
  const mailer = createMailer({ ...mail, timeoutMs: delivery.timeoutMs });
  closing.push(clientPart('mailer', false, mailer.close));
  logger.info({ server: maskedServer(mail.server), from: mail.from.address }, 'mail.used');
  return mailer;
}

function clientPart(name: string, needsRedis: boolean, stop: Part['stop']): Part {
  return { name, deadlineMs: clientEndMs, needsRedis, stop };
}

function startDelivery(clients: readonly Pick<CallbackClient, 'abortAll'>[], deps: DeliverWorkerDeps): Part {
  const worker = createDeliverWorker(deps);
  async function stop(): Promise<void> {
    const late = setTimeout(() => clients.forEach(({ abortAll }) => abortAll()), abortMs);
    try {
      await worker.close();
    } finally {
      clearTimeout(late);
    }
  }
  return { name: 'delivery', deadlineMs: endMs, needsRedis: true, stop };
}
