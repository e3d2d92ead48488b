import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createKeys } from '../../src/redis/keys.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startPartnerProcess } from './support/partner-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { percentile, print } from './support/statistics.ts';

const filings = 20_000;
const unsettled = 300;
const accounts = 5;
const pollIntervalMs = 15_000;
const seconds = Number(process.env['BENCH_SECONDS'] ?? 180);
const limits = { 'p50 s': 2.5, 'p99 s': 6, 'requests in 15 s': 7 };

/**
 * From a rejection in the service to the event of it, with 20 000 filings an account at the default
 * intervals; and the requests of an account while nothing changes. The service lists the REJECTED ones newest
 * first, then in another order each time; both at once. `BENCH_SECONDS` is how long filings are rejected, and
 * half of it, 30 seconds at least, how long none is.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    POLL_INTERVAL_MS: String(pollIntervalMs),
    // Sweeps are left out, as are the limits of a real service while the baselines are read.
    SWEEP_INTERVAL_MS: '86400000',
    PARTNER_MAX_RPS: '100',
  });
  await Promise.all([
    measure('newest first', daemon, redis.url, false),
    measure('in any order', daemon, redis.url, true),
  ]);
  print('limits', limits);
}

async function measure(label: string, daemon: DaemonProcess, url: string, isShuffled: boolean) {
  await using partner = await startPartnerProcess(filings, unsettled, isShuffled);
  const names = Array.from({ length: accounts }, (_, i) => `${label.replaceAll(' ', '-')}-${i}`);
  for (const name of names)
    await daemon.api.ok('PUT', `/v1/accounts/${name}`, { baseUrl: partner.baseUrl, partnerKey: `k-${name}` });
  for (const name of names) await untilBaselined(daemon, name);
  // The first polls by delta, and what the first looks learn.
  await sleep(2 * pollIntervalMs);

  await partner.traffic();
  const quietMs = 1_000 * Math.max(30, seconds / 2);
  await sleep(quietMs);
  const { requests } = await partner.traffic();

  const rejectedAt = new Map<string, number>();
  const endAt = Date.now() + 1_000 * seconds;
  while (Date.now() < endAt) {
    const id = await partner.reject();
    rejectedAt.set(id, Date.now());
    await sleep(4_000 + 8_000 * Math.random());
  }
  await sleep(pollIntervalMs);
  const waits = [];
  for (const name of names) waits.push(...(await waitsOf(daemon, url, name, rejectedAt)));
  print(`${accounts} accounts, ${label}`, {
    'p50 s': percentile(waits, 0.5) / 1_000,
    'p99 s': percentile(waits, 0.99) / 1_000,
    'max s': Math.max(...waits) / 1_000,
    noticed: `${waits.length} of ${rejectedAt.size * accounts}`,
    'requests in 15 s': requests / accounts / (quietMs / pollIntervalMs),
  });
}

async function untilBaselined({ api }: DaemonProcess, name: string): Promise<void> {
  for (;;) {
    const { health } = await api.ok<{ health: { state: string } }>('GET', `/v1/accounts/${name}`);
    if (health.state === 'ok') return;
    await sleep(200);
  }
}

/** Milliseconds from each rejection to the event of it in the log. */
async function waitsOf(
  { api }: DaemonProcess,
  url: string,
  name: string,
  rejectedAt: ReadonlyMap<string, number>,
): Promise<number[]> {
  const path = `/v1/accounts/${name}/events?limit=100`;
  const { items } = await api.ok<{ items: { data: { filingId: string } }[] }>('GET', path);
  const redis = new Redis(url);
  const entries = await redis.xrange(createKeys('fw').account(name).events, '-', '+');
  redis.disconnect();
  return entries.flatMap(([, fields], i) => {
    const rejected = rejectedAt.get(items[i]?.data.filingId ?? '');
    return rejected === undefined ? [] : Number(fields[fields.indexOf('at') + 1]) - rejected;
  });
}
