import { setTimeout as sleep } from 'node:timers/promises';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { createDeliveryRig } from './support/delivery-rig.ts';
import { startListeners } from './support/listener-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { percentile, print } from './support/statistics.ts';

const eventsPerSecond = 100;
const seconds = Number(process.env['BENCH_SECONDS'] ?? 20);
const batchMs = 100;

/**
 * Listeners to the event stream of one account at 100 events a second: processor time of the daemon, which
 * does nothing else.
 */
export async function run(): Promise<void> {
  for (const listeners of [1, 100, 1_000]) {
    // One after the other: they would disturb each other.
    await measure(listeners);
  }
}

async function measure(listeners: number): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: 'bench',
    ROLES: 'api',
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  });
  await daemon.api.ok('PUT', '/v1/accounts/a', { baseUrl: 'http://127.0.0.1:1/v1', partnerKey: 'none' });
  await using rig = await createDeliveryRig(redis.url);
  await using audience = await startListeners({
    url: `${daemon.url}/v1/accounts/a/events/stream`,
    token: apiToken,
    listeners,
  });
  const before = await cpuSeconds(daemon);
  const startedAt = performance.now();
  let events = 0;
  for (; performance.now() - startedAt < seconds * 1000; events += (eventsPerSecond * batchMs) / 1000) {
    const next = startedAt + ((events + 1) / eventsPerSecond) * 1000;
    // oxlint-disable no-await-in-loop
    await rig.fill('a', (eventsPerSecond * batchMs) / 1000);
    await sleep(Math.max(0, next + batchMs - performance.now()));
    // oxlint-enable no-await-in-loop
  }
  await sleep(1_000);
  const elapsed = (performance.now() - startedAt) / 1000;
  const cores = ((await cpuSeconds(daemon)) - before) / elapsed;
  const heard = await audience.heard();
  print(`${listeners} listeners`, {
    'events/s': events / elapsed,
    'heard of all': `${((100 * heard.events) / (events * listeners)).toFixed(1)} %`,
    cores,
    'p50 ms': percentile(heard.delays, 0.5),
    'p99 ms': percentile(heard.delays, 0.99),
  });
}

async function cpuSeconds({ url }: DaemonProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
}
