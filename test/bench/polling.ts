import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { largeAccountFilings } from '../../src/polling/schedule/plan.ts';
import { createRedisConnections } from '../../src/redis/connection/connect.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { watchAccount, type WatchedAccount } from '../support/partner/watched-account.ts';
import { startPageReader } from './support/page-reader-process.ts';
import { startPartnerProcess, type PartnerProcess } from './support/partner-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { usageOf } from '../support/daemon/process-usage.ts';
import { median, percentile, print } from './support/statistics.ts';

const parts = { requests, compare, memory, accounts };
const wanted = (process.env['BENCH_POLLING'] ?? Object.keys(parts).join(',')).split(',');
const filingsMax = Number(process.env['BENCH_FILINGS'] ?? 1_000_000);
const accountsMax = Number(process.env['BENCH_ACCOUNTS'] ?? 1_000);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 60);
const pollIntervalMs = 15_000;

/**
 * What polling costs: requests per poll, filings compared per second, memory with many filings, and many
 * accounts at once. `BENCH_POLLING` names the parts to run (requests, compare, memory, accounts);
 * `BENCH_FILINGS`, `BENCH_ACCOUNTS` and `BENCH_SECONDS` make the last two smaller.
 */
export async function run(): Promise<void> {
  for (const [name, part] of Object.entries(parts)) {
    // One after the other: they would disturb each other.
    if (wanted.includes(name)) await part();
  }
}

/** Requests of a delta poll after a handful of changes, against those of a full listing. */
async function requests(): Promise<void> {
  const sizes = [
    [1_000, 60],
    [10_000, 300],
    [20_000, 300],
    [100_000, 1_000],
  ] as const;
  for (const [filings, unsettled] of sizes) {
    await withAccount(filings, unsettled, async (watched, partner) => {
      const polls: number[] = [];
      for (let poll = 0; poll < 20; poll += 1) {
        await partner.change();
        await partner.traffic();
        const outcome = await watched.poll();
        if (outcome.kind !== 'complete' || outcome.events < 4) throw new Error(JSON.stringify(outcome));
        polls.push((await partner.traffic()).requests);
      }
      const mean = polls.reduce((sum, each) => sum + each, 0) / polls.length;
      print(`${filings} filings, ${unsettled} unsettled`, {
        'requests a poll': mean,
        'lists + 4': `${3 * Math.ceil(unsettled / 300) + 4}`,
        'full listing': `${filings / 100}`,
        'share %': (100 * mean) / (filings / 100),
      });
    });
  }
}

/**
 * Filings compared per second by a sweep that finds nothing, against a client that fetches and parses the
 * same pages one after the other; in turns, each in a process of its own.
 */
async function compare(): Promise<void> {
  const filings = 20_000;
  await using redis = await startPrivateRedis('everysec');
  await using partner = await startPartnerProcess(filings, 300);
  const pages = { baseUrl: partner.baseUrl, redisUrl: redis.url, filings };
  await using bare = await startPageReader('bare', pages);
  await using sweeping = await startPageReader('sweeping', pages);
  const rates: Record<'bare' | 'swept', number[]> = { bare: [], swept: [] };
  for (let round = 0; round < 40; round += 1) {
    // oxlint-disable no-await-in-loop
    rates.bare.push(filings / (await bare.read()));
    rates.swept.push(filings / (await sweeping.read()));
    // oxlint-enable no-await-in-loop
  }
  const [bareRate, sweptRate] = [median(rates.bare), median(rates.swept)];
  print(`${filings} filings`, {
    'fetched and parsed/s': bareRate,
    'compared/s': sweptRate,
    ratio: sweptRate / bareRate,
    'in one round': median(rates.swept.map((rate, i) => rate / (rates.bare[i] ?? 0))),
  });
}

/** Memory of Redis and of the daemon with one very large account, after its baseline and a sweep. */
async function memory(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using partner = await startPartnerProcess(filingsMax, Math.ceil(filingsMax / 100));
  const before = await usedMemory(redis.url);
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    PARTNER_BASE_URL: partner.baseUrl,
    PARTNER_KEY: 'k',
    PARTNER_MAX_RPS: '1000',
    POLL_INTERVAL_MS: String(pollIntervalMs),
  });
  const baselineSeconds = await secondsOf(() => untilSwept(daemon, 0));
  const used = (await usedMemory(redis.url)) - before;
  const baseline = await usageOf(daemon.pid);
  const sweptAt = Date.now();
  await daemon.api.ok('POST', '/v1/accounts/default/poll?mode=sweep');
  const sweepSeconds = await secondsOf(() => untilSwept(daemon, sweptAt));
  const { peakMiB, rssMiB } = await usageOf(daemon.pid);
  print(`${filingsMax} filings`, {
    'Redis bytes a filing': used / filingsMax,
    'MiB a million': (used / filingsMax) * (1e6 / 2 ** 20),
    'daemon peak MiB, baseline': baseline.peakMiB,
    'and sweep': peakMiB,
    afterwards: rssMiB,
    'baseline s': baselineSeconds,
    'sweep s': sweepSeconds,
  });
}

/** Many small accounts polled every 15 seconds: whether polls come in time, and what they cost. */
async function accounts(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using partner = await startPartnerProcess(100, 10);
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    POLL_INTERVAL_MS: String(pollIntervalMs),
    // Looks at these accounts are the same request as a poll.
    REJECTION_LOOK_MS: '0',
  });
  const names = Array.from({ length: accountsMax }, (_, i) => `account-${i}`);
  for (const name of names) {
    const settings = { baseUrl: partner.baseUrl, partnerKey: `k-${name}` };
    await daemon.api.ok('PUT', `/v1/accounts/${name}`, settings);
  }
  await sleep(2 * pollIntervalMs);
  await partner.traffic();
  const before = await usageOf(daemon.pid);
  await sleep(seconds * 1_000);
  const after = await usageOf(daemon.pid);
  const { polls, requests: sent } = await partner.traffic();
  const gaps = Object.values(polls).flatMap((starts) =>
    starts.slice(1).map((start, i) => start - (starts[i] ?? 0)),
  );
  const made = Object.values(polls).reduce((sum, starts) => sum + starts.length, 0);
  print(`${accountsMax} accounts of 100 filings`, {
    polls: `${made} of ${Math.round((accountsMax * seconds * 1_000) / pollIntervalMs)}`,
    requests: sent.toString(),
    'gap p50 ms': percentile(gaps, 0.5),
    'p99 ms': percentile(gaps, 0.99),
    'max ms': Math.max(...gaps),
    'CPU %': (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds,
    'RSS MiB': after.rssMiB,
  });
}

async function withAccount(
  filings: number,
  unsettled: number,
  work: (watched: WatchedAccount, partner: PartnerProcess) => Promise<void>,
): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using partner = await startPartnerProcess(filings, unsettled);
  await using connections = createRedisConnections(redis.url, {
    onStateChange: () => undefined,
    connectionName: 'bench',
  });
  const at = { baseUrl: partner.baseUrl, key: 'k' };
  const watched = await watchAccount(connections.command(), 'bench', at, {
    largeFrom: largeAccountFilings,
    timeoutMs: 10_000,
    pollIntervalMs: 3_600_000,
  });
  await watched.poll();
  if (!(await watched.polling.read(watched.account)).baselined) throw new Error('no baseline');
  await work(watched, partner);
}

async function untilSwept(daemon: DaemonProcess, after: number): Promise<void> {
  for (;;) {
    const { health } = await daemon.api.ok<{ health: { lastSweepAt: string | null } }>(
      'GET',
      '/v1/accounts/default',
    );
    if (health.lastSweepAt !== null && Date.parse(health.lastSweepAt) >= after) return;
    await sleep(200);
  }
}

async function usedMemory(url: string): Promise<number> {
  const redis = new Redis(url);
  const info = await redis.info('memory');
  redis.disconnect();
  return Number(/used_memory:(\d+)/.exec(info)?.[1]);
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}
