import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createKeys } from '../../src/redis/keys.ts';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { benchSecret } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess, type Arrival } from './support/receiver-process.ts';
import { percentile, print } from './support/statistics.ts';

const filings = 100;
const changesPerSecond = 100;
const seconds = 20;
const pollIntervalMs = 100;

/**
 * From the moment at which a change is written (`recordedAt` of its event, whole milliseconds) to the first
 * byte at the receiver, through the whole daemon in a process of its own, at a steady rate of changes; with
 * one and with 20 subscriptions.
 */
export async function run(): Promise<void> {
  await measure(1);
  await measure(20);
}

async function measure(subscriptions: number): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using sandbox = await startSandbox();
  for (let i = 0; i < filings; i += 1) await sandbox.set(`f${i}`, { status: 'PENDING' });
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
    POLL_INTERVAL_MS: String(pollIntervalMs),
  });
  await untilBaselined(daemon);
  for (let i = 0; i < subscriptions; i += 1) {
    const body = { url: `${receiver.url}/${i}`, secret: benchSecret };
    await daemon.api.ok('POST', '/v1/accounts/default/subscriptions', body);
  }
  await changeSteadily(sandbox);
  await sleep(1_000);
  const recordedAt = await recordedTimes(redis.url);
  const delays = (await receiver.arrivals()).flatMap(({ id, at }: Arrival) => {
    const recorded = recordedAt.get(id);
    return recorded === undefined ? [] : at - recorded;
  });
  print(`${subscriptions} subscriptions, ${changesPerSecond} changes/s`, {
    events: recordedAt.size.toString(),
    'p50 ms': percentile(delays, 0.5),
    'p99 ms': percentile(delays, 0.99),
    'max ms': Math.max(...delays),
  });
}

async function untilBaselined({ api }: Awaited<ReturnType<typeof startDaemonProcess>>): Promise<void> {
  for (;;) {
    const { health } = await api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
    if (health.state === 'ok') return;
    await sleep(50);
  }
}

// Filings go to and fro between two statuses, one after the other, each at its time.
async function changeSteadily(sandbox: Awaited<ReturnType<typeof startSandbox>>): Promise<void> {
  const startedAt = performance.now();
  for (let i = 0; i < changesPerSecond * seconds; i += 1) {
    const status = Math.floor(i / filings) % 2 === 0 ? 'PAID' : 'PENDING';
    const early = startedAt + (i * 1_000) / changesPerSecond - performance.now();
    // oxlint-disable no-await-in-loop
    if (early > 0) await sleep(early);
    await sandbox.set(`f${i % filings}`, { status });
    // oxlint-enable no-await-in-loop
  }
}

async function recordedTimes(url: string): Promise<Map<string, number>> {
  const redis = new Redis(url);
  const entries = await redis.xrange(createKeys('fw').account('default').events, '-', '+');
  redis.disconnect();
  if (entries.length === 0) throw new Error('the log has no events');
  return new Map(
    entries.map(([, fields]) => [
      fields[fields.indexOf('id') + 1] ?? '',
      Number(fields[fields.indexOf('at') + 1]),
    ]),
  );
}
