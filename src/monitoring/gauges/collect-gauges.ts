import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountStore } from '../../accounts/account-store.ts';
import { checkDurability } from '../../redis/durability/check-durability.ts';
import type { StoreWatch } from '../../redis/durability/store-watch.ts';
import type { PollingStore } from '../../polling/store/polling-store.ts';
import type { Metrics } from '../metrics.ts';
import type { Readiness } from '../readiness.ts';
import {
  createAccountFactsReads,
  unlessUnreadable,
  type AccountFacts,
  type AccountFactsDeps,
} from './account-facts.ts';
import type { AccountMarkReads } from './account-marks.ts';
import { createFactFollower, type FactFollower } from './following/fact-follower.ts';
import { showGauges } from './show-gauges.ts';
import { accountsNamedMax, subscriptionsNamedMax, whoIsNamed, type PerAccount } from './worst.ts';

export interface GaugesDeps extends AccountFactsDeps {
  readonly watch: Pick<StoreWatch, 'problem'>;
  readonly accounts: Pick<AccountStore, 'get' | 'all'>;
  readonly accountMarks: AccountMarkReads;
  readonly perAccount: PerAccount;
  readonly metrics: Metrics;
  readonly polling: Pick<PollingStore, 'oldestPolled'>;
  /** Number of requests of this process that wait for a turn at their host. */
  readonly requestsInTurn: () => number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/** The gauges of a process that come from the store. */
export interface Gauges {
  /**
   * Sets every gauge from the store, whichever processes poll and deliver; called before each scrape. Few
   * accounts are read now, many are followed; until each of these was read once, the gauges of accounts and
   * subscriptions are missing, since part of a total would look like a change of it. Rejects while Redis does
   * not answer: then `ready` is 0 and the other gauges keep their values.
   */
  collect(readiness: () => Promise<Readiness>): Promise<void>;
  /** Ends what goes on between scrapes. */
  stop(): Promise<void>;
}

// Number of accounts that are read at the same time.
const accountsAtOnce = 20;

/** The gauges of one process. */
export function createGauges(deps: GaugesDeps): Gauges {
  const { redis, keys, accounts, metrics, now } = deps;
  const reads = createAccountFactsReads(deps);
  const follower: FactFollower = createFactFollower({
    reads,
    marks: deps.accountMarks,
    async names(cursor) {
      const [next, flat] = await redis.hscan(keys.accounts, cursor, 'COUNT', 100);
      return [next, flat.filter((_, i) => i % 2 === 0)];
    },
    now: () => performance.now(),
  });

  // The number of subscriptions is asked for only where that of the accounts does not decide.
  async function sizes(): Promise<{ accounts: number; subscriptions: number }> {
    const count = await redis.hlen(keys.accounts);
    if (count > accountsNamedMax) return { accounts: count, subscriptions: Infinity };
    const names = await redis.hkeys(keys.accounts);
    const countOf = (name: string) => unlessUnreadable(() => redis.hlen(keys.account(name).subscriptions));
    const counts = await Promise.all(names.map(countOf));
    return { accounts: count, subscriptions: counts.reduce<number>((sum, each) => sum + (each ?? 0), 0) };
  }

  async function readAll(): Promise<AccountFacts[]> {
    const found: AccountFacts[] = [];
    const all = (await accounts.all()).accounts;
    for (let from = 0; from < all.length; from += accountsAtOnce) {
      const some = await Promise.all(all.slice(from, from + accountsAtOnce).map(reads.factsOf));
      found.push(...some.filter((each) => each !== null));
      await nextTurn();
    }
    return found;
  }

  return {
    async collect(readiness) {
      await collectStore(deps, readiness);
      const size = await sizes();
      const isFollowed = size.accounts > accountsNamedMax || size.subscriptions > subscriptionsNamedMax;
      const showAge = () => metrics.gaugesAge.set(isFollowed ? follower.waitingMs() / 1000 : 0);
      showAge();
      const all = isFollowed ? await follower.follow() : await readAll();
      showAge();
      if (all === null) return;
      const named = whoIsNamed(deps.perAccount, size.accounts, size.subscriptions);
      metrics.ofAccounts.show(new Set(all.map(({ account }) => account)), named.accounts);
      showGauges(metrics, all, named, { now: now(), rejecting: metrics.ofAccounts.rejecting() });
    },
    stop: async () => follower.stop(),
  };
}

async function collectStore(
  { watch, redis, metrics, polling, requestsInTurn, now }: GaugesDeps,
  readiness: () => Promise<Readiness>,
): Promise<void> {
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
