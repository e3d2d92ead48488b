import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiToken, startDaemonProcess } from '../support/daemon-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startSlowClients } from './support/slow-clients-process.ts';
import { percentile, print } from './support/statistics.ts';

const connections = Number(process.env['SLOW_CONNECTIONS'] ?? 10_000);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 15);
const everyMs = 20;
const paths = ['/health/live', '/health/ready'] as const;

/**
 * What the probes of health take, each over a connection of its own, while ten thousand connections (`SLOW_CONNECTIONS`) drip headers and bodies at
 * a byte a second and others send bodies of 2 MB, over what they take alone. Beside it, how late the event loops of the daemon and of the
 * one who asks ran at most: what a probe takes while the latter is late is its own doing. With fewer file descriptors than that
 * (`ulimit -n`) the daemon keeps fewer open.
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
  await probe(daemon.url, `beside ${connections} slow`, seconds);
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
  const probes = paths.map((path) => ({ path, takenMs: new Array<number>(), failed: 0 }));
  await loopDelayMs(url);
  const own = monitorEventLoopDelay({ resolution: 10 });
  own.enable();
  for (const end = performance.now() + duration * 1_000; performance.now() < end;) {
    for (const one of probes) {
      const startedAt = performance.now();
      // oxlint-disable-next-line no-await-in-loop
      const { status } = await ask(url + one.path);
      one.takenMs.push(performance.now() - startedAt);
      if (status !== 200) one.failed += 1;
    }
    // oxlint-disable-next-line no-await-in-loop
    await sleep(everyMs);
  }
  for (const { path, takenMs, failed } of probes) {
    print(`${label}: ${path}`, {
      'p50 ms': percentile(takenMs, 0.5),
      'p99 ms': percentile(takenMs, 0.99),
      'max ms': Math.max(...takenMs),
      probes: String(takenMs.length),
      failed: String(failed),
    });
  }
  print(`${label}: late at most`, {
    'daemon ms': await loopDelayMs(url),
    'who asks ms': own.max / 1e6,
  });
}

/** Over a connection of its own, as the probes of an orchestrator come. */
async function ask(url: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (answer) => {
      text(answer).then(
        (body) => resolve({ status: answer.statusCode ?? 0, body }),
        () => resolve({ status: 0, body: '' }),
      );
    });
    request.on('error', () => resolve({ status: 0, body: '' }));
  });
}

/** How late the daemon's event loop ran at most since this was last asked. */
async function loopDelayMs(url: string): Promise<number> {
  const { body } = await ask(`${url}/metrics`);
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(body)?.[1]) * 1_000;
}
