import { setTimeout as delay } from 'node:timers/promises';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { PollingStore } from '../../polling/store/polling-store.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import { checkDurability } from '../../redis/durability/check-durability.ts';
import type { StoreWatch } from '../../redis/durability/store-watch.ts';
import { unlessUnreadable } from '../../redis/unreadable-record.ts';
import type { Metrics } from '../metrics.ts';
import type { Readiness } from '../readiness.ts';
import { readAccountFacts, type AccountFacts, type AccountFactsDeps } from './account-facts.ts';
import { showGauges, whoIsNamed, type PerAccount } from './show-gauges.ts';

export interface GaugesDeps extends AccountFactsDeps {
  readonly redis: RedisClient;
  readonly watch: Pick<StoreWatch, 'problem'>;
  readonly accounts: Pick<AccountStore, 'slice'>;
  readonly perAccount: PerAccount;
  readonly metrics: Metrics;
  readonly polling: Pick<PollingStore, 'read' | 'oldestPolled'>;
  readonly readiness: () => Promise<Readiness>;
  /** Number of requests of this process that wait for a turn at their host. */
  readonly requestsInTurn: () => number;
}

// Number of accounts that are read at the same time.
const accountsAtOnce = 20;
// Milliseconds for which a scrape waits for a round over the accounts that may be a short one.
const waitMs = 2_000;
// Milliseconds of a round from which on no scrape waits for the next one.
const longMs = 1_000;
// Milliseconds of rest after a round, for each one that it took, and the maximum of the rest.
const restShare = 4;
const restMsMax = 60_000;

/**
 * Sets every gauge from the store, whichever processes poll and deliver; to be called before each scrape. It
 * begins a round over all accounts, unless one is under way or has ended a moment ago. Few accounts are read
 * before the scrape. A longer round goes on by itself, and shows what it has found when it is over, since
 * part of a total would look like a change of it. Until the first round is over, the gauges of accounts and
 * subscriptions are missing. Rejects while Redis does not answer: then `ready` is 0 and the other gauges keep
 * their values.
 */
export function createGauges(deps: GaugesDeps): () => Promise<void> {
  const { accounts, metrics, now } = deps;
  let round: Promise<void> | null = null;
  let tookMs = 0;
  let restsUntil = -Infinity;
  /** When the round began that the gauges show; before its end, when the first one did. */
  let shownFrom: number | null = null;

  async function readRound(): Promise<void> {
    const begunAt = performance.now();
    shownFrom ??= begunAt;
    try {
      show(await readAll());
      shownFrom = begunAt;
    } finally {
      const endedAt = performance.now();
      tookMs = endedAt - begunAt;
      restsUntil = endedAt + Math.min(restMsMax, restShare * tookMs);
      round = null;
    }
  }

  async function readAll(): Promise<AccountFacts[]> {
    const found = new Map<string, AccountFacts>();
    let place = '0';
    do {
      const slice = await accounts.slice(place, accountsAtOnce);
      place = slice.next;
      for (let from = 0; from < slice.accounts.length; from += accountsAtOnce) {
        const begunAt = performance.now();
        const some = slice.accounts.slice(from, from + accountsAtOnce);
        for (const facts of await Promise.all(some.map((account) => readAccountFacts(deps, account))))
          if (facts !== null) found.set(facts.account, facts);
        // Polls and deliveries have at least as much of the time.
        if (found.size > accountsAtOnce) await delay(performance.now() - begunAt, undefined, { ref: false });
      }
    } while (place !== '0');
    return [...found.values()];
  }

  function show(all: readonly AccountFacts[]): void {
    const subscriptions = all.reduce((sum, each) => sum + each.subscriptions.lags.size, 0);
    const named = whoIsNamed(deps.perAccount, all.length, subscriptions);
    metrics.ofAccounts.show(new Set(all.map(({ account }) => account)), named.accounts);
    showGauges(metrics, all, named, now());
  }

  return async () => {
    await collectStore(deps);
    if (round === null && performance.now() >= restsUntil) round = readRound();
    // A round may fail when no scrape waits for it any more; the next one is tried all the same.
    round?.catch(() => undefined);
    const enough = delay(tookMs > longMs ? 0 : waitMs, undefined, { ref: false });
    if (round !== null) await Promise.race([round, enough]);
    metrics.gaugesAge.set((performance.now() - (shownFrom ?? performance.now())) / 1000);
  };
}

async function collectStore(deps: GaugesDeps): Promise<void> {
  const { readiness, watch, redis, metrics, polling, requestsInTurn, now } = deps;
  const { ready } = await readiness();
  metrics.ready.set(ready ? 1 : 0);
  metrics.clockDifference.set((now() - Date.now()) / 1000);
  metrics.storeEmptied.set(watch.problem() === null ? 0 : 1);
  const { problems } = await checkDurability(redis);
  metrics.redisSafe.set(problems.length === 0 ? 1 : 0);
  metrics.requestsInTurn.set(requestsInTurn());
  const oldest = await unlessUnreadable(polling.oldestPolled);
  metrics.oldestPoll.set(oldest === null ? 0 : Math.max(0, now() - oldest.at) / 1000);
}
