import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiToken, startDaemonProcess } from '../support/daemon-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startSlowClients } from './support/slow-clients-process.ts';
import { percentile, print } from './support/statistics.ts';

const connections = Number(process.env['SLOW_CONNECTIONS'] ?? 10_000);
const seconds = 15;
const everyMs = 20;

/**
 * What the probes of health take while ten thousand connections (`SLOW_CONNECTIONS`) drip headers and bodies at a byte a second and others send
 * bodies of 2 MB, over what they take alone. With fewer file descriptors than that (`ulimit -n`) the daemon keeps fewer open.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using daemon = await startDaemonProcess({ REDIS_URL: redis.url });
  const account = { baseUrl: 'http://127.0.0.1:9/v1', partnerKey: 'k', pollIntervalMs: 60_000 };
  await daemon.api.ok('PUT', '/v1/accounts/slow', account);
  await probe(daemon.url, 'alone', 3);
  await using slow = await startSlowClients(daemon.url, apiToken, connections);
  const open = [await slow.open()];
  const watch = setInterval(() => void slow.open().then((count) => open.push(count)), 1_000);
  await probe(daemon.url, `beside ${connections} slow connections`, seconds);
  clearInterval(watch);
  print('slow connections open', {
    least: String(Math.min(...open)),
    most: String(Math.max(...open)),
    'MiB of the daemon': residentMiB(daemon.pid),
  });
}

function residentMiB(pid: number): number {
  const [, kib = 'NaN'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

async function probe(url: string, label: string, duration: number): Promise<void> {
  const takenMs: number[] = [];
  let failed = 0;
  for (const end = performance.now() + duration * 1_000; performance.now() < end;) {
    for (const path of ['/health/live', '/health/ready']) {
      const startedAt = performance.now();
      // oxlint-disable no-await-in-loop
      const { ok } = await fetch(url + path).then(
        (answer) => answer.text().then(() => answer),
        () => ({ ok: false }),
      );
      // oxlint-enable no-await-in-loop
      takenMs.push(performance.now() - startedAt);
      if (!ok) failed += 1;
    }
    // oxlint-disable-next-line no-await-in-loop
    await sleep(everyMs);
  }
  print(label, {
    'p50 ms': percentile(takenMs, 0.5),
    'p99 ms': percentile(takenMs, 0.99),
    'max ms': Math.max(...takenMs),
    probes: String(takenMs.length),
    failed: String(failed),
  });
}
