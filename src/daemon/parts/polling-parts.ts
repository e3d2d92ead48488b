import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Waker } from '../../delivery/wake.ts';
import { createWorkTally } from '../../monitoring/work-tally.ts';
import { boundedCounts } from '../../monitoring/gauges/account-facts.ts';
import { observePolling } from '../../monitoring/observe-polling.ts';
import { createHostBudgets } from '../../partner/host-budgets.ts';
import { createPartnerConnections } from '../../polling/partner-connections.ts';
import { createLooks } from '../../polling/looks.ts';
import { createAccountPoller } from '../../polling/pollers.ts';
import { createPollQueue } from '../../polling/schedule/poll-queue.ts';
import { createPaced } from '../../polling/schedule/paced.ts';
import { createPollWorker, type Poll } from '../../polling/schedule/poll-worker.ts';
import { connectMsOf } from '../../partner/partner-http.ts';
import { createProxyAgents } from '../../proxy/proxy-agents.ts';
import { clientEndMs, type Part } from '../stop-parts.ts';
import { createProxyTunnels } from './proxies.ts';
import type { PartsBase } from './stores.ts';

// Maximum number of polls in a process; they mostly wait for the partner service.
const pollsAtOnce = 200;
// Milliseconds between two wake-ups, during a long poll, of subscriptions that a crash or a failure left
// asleep.
const pollUpkeepMs = 30_000;
// Minimum milliseconds between two such wake-ups of an account by this process, however often it is polled.
const wakeEveryMs = 2_000;
// Milliseconds within which the polls of a process look only once whether the store was emptied.
const lookAgainMs = 250;
// Milliseconds that polls may take to end.
const endMs = 5_000;

/** Makes the poll queue, and adds the parts to close to `closing`. */
export function createPollingParts(
  config: Config,
  deps: PartsBase & { readonly waker: Waker },
  closing: Part[],
) {
  const { connections, keys, clock, stores, tracing, waker, watch, onError } = deps;
  const { logger, metrics, lookup, reportStanding } = deps;
  const { filingBytesMax, proxies } = config;
  const { timeoutMs } = config.polling;
  const pollQueue = createPollQueue(connections.failFast(), keys.queues, onError);
  closing.push({ name: 'poll queue', deadlineMs: clientEndMs, needsRedis: true, stop: pollQueue.close });
  const polls = createWorkTally({
    busyFrom: 1,
    requestMs: timeoutMs,
    now: () => performance.now(),
  });

  const observer = observePolling({ logger, metrics, tracing, tally: polls, filingBytesMax });
  const { totalRps } = config.polling;
  const hostBudgets = totalRps === null ? null : createHostBudgets({ redis: deps.redis, keys, totalRps });
  // The proxy resolves names: no policy applies to the addresses of the partner service.
  const tunnels = createProxyTunnels(
    'partner',
    proxies.partner,
    { noProxy: proxies.noProxy, resolves: true, timeoutMs },
    deps,
  );
  const agents = createProxyAgents(tunnels, connectMsOf(timeoutMs));
  if (tunnels !== null)
    closing.push({ name: 'partner proxy', deadlineMs: clientEndMs, needsRedis: false, stop: tunnels.close });
  const partners = createPartnerConnections({
    agents,
    clock,
    random: deps.random,
    partner: config.polling,
    lookup,
    hostBudgets,
    onRequest: observer.onRequest,
  });

  const { lookMs } = config.polling;
  const looks =
    lookMs === 0
      ? null
      : createLooks({
          lookMs,
          snapshot: stores.snapshot,
          isHostBusy: () => (hostBudgets?.waiting() ?? 0) > 0,
          pollNow: (account) => pollQueue.pollNow(account, 'delta'),
          onLook: observer.onLook,
          onError,
        });
  const keepAwake = createPaced(wakeEveryMs, waker.wakeIfDue);

  // Runs after each poll, and every `pollUpkeepMs` during a long one.
  async function upkeep(account: string): Promise<void> {
    const counts = async () => boundedCounts(await stores.snapshot.counts(account));
    const works = [keepAwake(account), stores.countHistory.note(account, clock.now(), counts)];
    for (const ended of await Promise.allSettled(works))
      if (ended.status === 'rejected' && (await reportStanding(account, ended.reason)) === null)
        throw ended.reason;
  }

  /** Starts a worker that takes polls until the returned part is stopped. */
  function startPolling(): Part {
    const poll = createAccountPoller({
      ...stores,
      ...observer,
      clock,
      random: deps.random,
      partners,
      filingBytesMax,
      wakeMatching: waker.wake,
      upkeep,
      upkeepMs: pollUpkeepMs,
      onError,
      beginSweep: (account, asked) =>
        asked ? pollQueue.pollNow(account, 'sweep') : pollQueue.beginSweep(account),
      looks,
      onUnknownAccount: pollQueue.unschedule,
      reportStanding,
      unreadable: deps.unreadable,
    });
    const traced = observer.traced(poll);
    const pollUnlessEmptied: Poll = async (...args) => {
      await watch.check(lookAgainMs);
      return watch.problem() === null ? traced(...args) : 'polled';
    };
    const worker = createPollWorker({
      connection: connections.blocking(),
      prefix: keys.queues,
      polling: stores.polling,
      holder: randomUUID(),
      concurrency: pollsAtOnce,
      poll: (...args) => polls.counted(() => pollUnlessEmptied(...args)),
      onSkipped: polls.skipped,
      onError,
    });
    async function stop(): Promise<void> {
      looks?.close();
      await worker.close();
    }
    return { name: 'polling', deadlineMs: endMs, needsRedis: true, stop };
  }

  /** An account was removed over the API: nothing is requested for it any more. */
  async function accountRemoved(account: string): Promise<void> {
    looks?.stop(account);
    await pollQueue.unschedule(account);
  }
  return {
    pollQueue,
    polls,
    partners,
    agents,
    partnerTunnels: tunnels,
    hostBudgets,
    startPolling,
    accountRemoved,
  };
}
