import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { usageOf, watchUsage } from '../support/daemon/process-usage.ts';
import { startBrokenPartner, type Breakage } from './support/broken-partner-process.ts';
import { startPartnerProcess } from './support/partner-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { percentile, print } from './support/statistics.ts';

const parts: Readonly<Record<string, readonly [Breakage, accounts: number]>> = {
  ones: ['ones', 1],
  objects: ['objects', 1],
  values: ['values', 1],
  keys: ['keys', 1],
  all: ['all', 1],
  large: ['large', 1],
  fifty: ['all', 50],
};
const wanted = (process.env['BENCH_BROKEN'] ?? Object.keys(parts).join(',')).split(',');
const seconds = Number(process.env['BENCH_SECONDS'] ?? 20);
const healthEveryMs = 20;
// Limits: a broken partner service is to cost others no more than this.
const healthMsMax = 100;
const growthMiBMax = 256;

/**
 * What a broken partner service costs the others: pages of 16 MB of ones or empty objects, one filing of
 * millions of values or keys, all filings at once whatever `limit` says, filings of 14 MiB which change, and
 * fifty such accounts. It prints the longest answer of health, by how much the daemon's memory grew, the polls
 * of a good neighbour, and what the account says of itself. `BENCH_BROKEN` names the parts, `BENCH_SECONDS` how
 * long each goes on.
 */
export async function run(): Promise<void> {
  print('limits', { 'health ms': healthMsMax, 'growth MiB': growthMiBMax });
  for (const [name, [breakage, accounts]] of Object.entries(parts)) {
    // One after the other: they would disturb each other.
    if (wanted.includes(name)) await suffer(name, breakage, accounts);
  }
}

async function suffer(name: string, breakage: Breakage, accounts: number): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using partner = await startBrokenPartner(breakage);
  await using good = await startPartnerProcess(100, 10);
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    POLL_INTERVAL_MS: '1000',
    PARTNER_MAX_RPS: '50',
  });
  await daemon.api.ok('PUT', '/v1/accounts/good', { baseUrl: good.baseUrl, partnerKey: 'k-good' });
  await sleep(3_000);
  const before = await usageOf(daemon.pid);
  await good.traffic();
  const probes = probeHealth(daemon);
  const usage = watchUsage(daemon.pid);
  for (let i = 0; i < accounts; i += 1)
    await daemon.api.ok('PUT', `/v1/accounts/sick-${i}`, { baseUrl: partner.baseUrl, partnerKey: `k-${i}` });
  await sleep(seconds * 1_000);
  if (breakage === 'large' || breakage === 'all') {
    await partner.change();
    await sleep(seconds * 1_000);
  }
  const takenMs = await probes.end();
  const peak = await usage.end();
  const { polls } = await good.traffic();
  const goodPolls = Object.values(polls).reduce((sum, starts) => sum + starts.length, 0);
  const events = await daemon.api.call('GET', '/v1/accounts/sick-0/events?limit=100');
  print(name, {
    'health p50 ms': percentile(takenMs, 0.5),
    'p99 ms': percentile(takenMs, 0.99),
    'max ms': Math.max(...takenMs),
    'growth MiB': (peak?.rssMiB ?? Number.NaN) - before.peakMiB,
    'Redis MiB': (await usedMemory(redis.url)) / 2 ** 20,
    'requests to it': String(await partner.requests()),
    "neighbour's polls": String(goodPolls),
    'GET events': String(events.status),
  });
  const { health, counts } = await daemon.api.ok<{ health: Record<string, unknown>; counts: unknown }>(
    'GET',
    '/v1/accounts/sick-0',
  );
  print('', {
    state: String(health['state']),
    'last error': String(health['lastError']),
    counts: JSON.stringify(counts),
  });
}

function probeHealth({ url }: DaemonProcess): { end(): Promise<readonly number[]> } {
  const takenMs: number[] = [];
  let isOver = false;
  async function probe(): Promise<void> {
    while (!isOver) {
      const startedAt = performance.now();
      // oxlint-disable no-await-in-loop
      const response = await fetch(`${url}/health/live`);
      await response.text();
      takenMs.push(performance.now() - startedAt);
      await sleep(healthEveryMs);
      // oxlint-enable no-await-in-loop
    }
  }
  const probing = probe();
  return {
    async end() {
      isOver = true;
      await probing;
      return takenMs;
    },
  };
}

async function usedMemory(url: string): Promise<number> {
  const redis = new Redis(url);
  const info = await redis.info('memory');
  redis.disconnect();
  return Number(/used_memory:(\d+)/.exec(info)?.[1]);
}
