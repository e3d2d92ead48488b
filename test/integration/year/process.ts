import { Redis } from 'ioredis';
import type { Account } from '../../../src/accounts/account.ts';
import { createDigests } from '../../../src/daemon/upkeep/digests.ts';
import { createToldReader } from '../../../src/delivery/attempts/told.ts';
import { createReplayStore } from '../../../src/delivery/replay/replay-store.ts';
import { createJournal } from '../../../src/delivery/store/journal.ts';
import type { TriageStep } from '../../../src/filings/detection/triage.ts';
import { noteFilings } from '../../../src/filings/note-filings.ts';
import { createMetrics } from '../../../src/monitoring/metrics.ts';
import type { Clock } from '../../../src/redis/clock.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createSealer } from '../../../src/secrets/seal.ts';
import { createSubscriptionReads } from '../../../src/subscriptions/store/subscription-reads.ts';
import { startTcpProxy, type Cut } from '../../support/connections/tcp-proxy.ts';
import { testConfig } from '../../support/daemon/product.ts';
import type { HostilePartner } from '../../support/partner/hostile-partner.ts';
import { watchAccount, type WatchedAccount } from '../../support/partner/watched-account.ts';

/** An account of the year, and its partner service. */
export interface YearAccount {
  readonly settings: Account;
  readonly partner: HostilePartner;
}

/** One process of the daemon, as far as the year needs one. All of it rejects once its connection is cut. */
export interface Process extends Disposable {
  readonly isDead: () => boolean;
  watch(account: YearAccount): Promise<WatchedAccount>;
  /** Looks whether a digest is due. */
  lookAtDigest(account: YearAccount): Promise<void>;
  /** Does with a filing what a person asks for; returns the result. */
  note(account: YearAccount, id: string, step: TriageStep): Promise<string | undefined>;
}

const metrics = createMetrics();

/** A process over a connection of its own to Redis. */
export async function startProcess(url: string, prefix: string, clock: Clock): Promise<Process> {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null, lazyConnect: true });
  redis.on('error', () => undefined);
  await redis.connect();
  const keys = createKeys(prefix);
  const config = testConfig(prefix);
  const subscriptions = createSubscriptionReads(redis, keys, createSealer(config.encryptionKeys));
  const journal = createJournal(redis, keys, () => null, config.attemptsBytesMax);
  const replays = createReplayStore(redis, keys);
  const watched = new Map<string, WatchedAccount>();
  const digests = new Map<string, (account: Account) => Promise<void>>();

  async function watch({ settings, partner }: YearAccount): Promise<WatchedAccount> {
    const known = watched.get(settings.account);
    if (known !== undefined) return known;
    const { account, due, stalledAfter, pollIntervalMs, sweepIntervalMs } = settings;
    const made = await watchAccount(redis, prefix, partner, {
      account,
      stalledAfter,
      pollIntervalMs,
      sweepIntervalMs,
      clock,
      due: due ?? {},
      largeFrom: 200,
      retries: false,
    });
    watched.set(account, made);
    return made;
  }

  return {
    isDead: () => redis.status === 'end' || redis.status === 'close',
    watch,
    async lookAtDigest(account) {
      const { polling, filings, log } = await watch(account);
      const name = account.settings.account;
      const look =
        digests.get(name) ??
        createDigests({
          polling,
          filings,
          subscriptions,
          metrics,
          openTold: createToldReader(redis, keys, log, journal, replays, subscriptions),
          waker: { wake: async () => undefined },
          logger: { info: () => undefined },
          isClockRight: () => true,
          now: clock.now,
        });
      digests.set(name, look);
      await look(account.settings);
    },
    async note(account, id, step) {
      const deps = { ...(await watch(account)), now: clock.now };
      const { settings } = account;
      return (await noteFilings(deps, settings.account, [id], step)).get(id);
    },
    [Symbol.dispose]: () => redis.disconnect(),
  };
}

/** A process that is started again whenever it is killed. */
export interface Supervised extends AsyncDisposable {
  /** Kills it where this is met; null once it was. */
  cut: Cut | null;
  /**
   * Does something that is asked for until it is done: what a process was killed in, the next one does once
   * more.
   */
  persist<T>(work: (living: Process) => Promise<T>): Promise<T>;
  kills(): number;
}

/** Such a process; it is killed by a cut of its connection to Redis. */
export async function superviseProcess(url: string, prefix: string, clock: Clock): Promise<Supervised> {
  const proxy = await startTcpProxy(Number(new URL(url).port));
  const way = new URL(url);
  way.host = `127.0.0.1:${proxy.port}`;
  const start = () => startProcess(way.href, prefix, clock);
  let process = await start();
  let kills = 0;
  return {
    get cut() {
      return proxy.cut;
    },
    set cut(cut) {
      proxy.cut = cut;
    },
    kills: () => kills,
    async persist(work) {
      for (;;) {
        try {
          return await work(process);
        } catch (error) {
          if (!process.isDead()) throw error;
          kills += 1;
          process[Symbol.dispose]();
          proxy.mode = 'pass';
          process = await start();
        }
      }
    },
    async [Symbol.asyncDispose]() {
      process[Symbol.dispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}
