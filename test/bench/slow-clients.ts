import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startSlowClients } from './support/slow-clients-process.ts';
import { startSlowReaders } from './support/slow-readers-process.ts';
import { percentile, print } from './support/statistics.ts';

const connections = Number(process.env['SLOW_CONNECTIONS'] ?? 10_000);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 15);
const everyMs = 20;
// The slow readers: more than there are places.
const openFiles = 300;
const readers = 600;
const asked = 100;
const grownMiBMax = 256;

/**
 * What the probes of health take, over a connection that is kept, over one of their own, and at a
 * METRICS_PORT of their own, while ten thousand connections (`SLOW_CONNECTIONS`) drip headers and bodies at a
 * byte a second and others send bodies of 2 MB, over what they take alone. Beside it, how late the event
 * loops of the daemon and of the one who asks ran at most, and how long the daemon waited for a processor in
 * all: what a probe takes while the one who asks is late, or while others of the machine have the processors,
 * is not the daemon's doing. With fewer file descriptors than that (`ulimit -n`) the daemon keeps fewer open.
 *
 * Then how many of the operator's requests are answered, each over a connection of its own, and what memory
 * is taken, while 600 clients read an answer of four megabytes slowly and the daemon may open 300 files.
 */
export async function run(): Promise<void> {
  await besideWriters();
  await besideReaders();
}

async function besideReaders(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  const environment = { REDIS_URL: redis.url };
  await using daemon = await startDaemonProcess(environment, 'daemon.started', openFiles);
  await ask(`${daemon.url}/docs/js/scalar.js`);
  const before = residentMiB(daemon.pid);
  await using slow = await startSlowReaders(daemon.url, readers);
  const takenMs: number[] = [];
  let answered = 0;
  let most = before;
  for (const end = performance.now() + seconds * 1_000; performance.now() < end;) {
    const startedAt = performance.now();
    const { status } = await ask(`${daemon.url}/v1/accounts`, false, {
      authorization: `Bearer ${apiToken}`,
    });
    takenMs.push(performance.now() - startedAt);
    if (status === 200) answered += 1;
    most = Math.max(most, residentMiB(daemon.pid));
    await sleep((seconds * 1_000) / asked);
  }
  print(`beside ${readers} slow readers`, {
    'slow open at the end': String(await slow.ask<number>('open')),
    'the operator answered': `${answered} of ${takenMs.length} (wanted: all)`,
    'p99 ms': percentile(takenMs, 0.99),
    'MiB before': before,
    'MiB at most': `${most.toFixed(0)} (wanted: ${(before + grownMiBMax).toFixed(0)})`,
  });
}

async function besideWriters(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using daemon = await startDaemonProcess({ REDIS_URL: redis.url, METRICS_PORT: '0' });
  const account = { baseUrl: 'http://127.0.0.1:9/v1', partnerKey: 'k', pollIntervalMs: 60_000 };
  await daemon.api.ok('PUT', '/v1/accounts/slow', account);
  await probe(daemon, 'alone', 3);
  await using slow = await startSlowClients(daemon.url, apiToken, connections);
  const open = [await slow.open()];
  const watch = setInterval(() => void slow.open().then((count) => open.push(count)), 1_000);
  await probe(daemon, `beside ${connections} slow`, seconds);
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

interface Probe {
  readonly what: string;
  readonly url: string;
  /** False = a connection of its own for each, as the probes of an orchestrator come. */
  readonly agent: Agent | false;
  readonly takenMs: number[];
  failed: number;
}

function keptConnection(): { readonly agent: Agent } & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return { agent, [Symbol.dispose]: () => agent.destroy() };
}

function metricsUrl({ logs }: DaemonProcess): string {
  return String(logs.find(({ msg }) => msg === 'daemon.started')?.['metricsUrl']);
}

/**
 * How long the main thread of a process has been ready to run and had no processor (Linux,
 * Documentation/scheduler/sched-stats).
 */
function waitedMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}

async function probe(daemon: DaemonProcess, label: string, duration: number): Promise<void> {
  const { url, pid } = daemon;
  using kept = keptConnection();
  const probes: Probe[] = [
    { what: '/health/live', url: `${url}/health/live`, agent: kept.agent, takenMs: [], failed: 0 },
    { what: '/health/ready', url: `${url}/health/ready`, agent: kept.agent, takenMs: [], failed: 0 },
    { what: 'live, own connection', url: `${url}/health/live`, agent: false, takenMs: [], failed: 0 },
    {
      what: 'live, METRICS_PORT',
      url: `${metricsUrl(daemon)}/health/live`,
      agent: false,
      takenMs: [],
      failed: 0,
    },
  ];
  await loopDelayMs(url);
  const waitedBefore = waitedMs(pid);
  const own = monitorEventLoopDelay({ resolution: 10 });
  own.enable();
  for (const end = performance.now() + duration * 1_000; performance.now() < end;) {
    for (const one of probes) {
      const startedAt = performance.now();
      const { status } = await ask(one.url, one.agent);
      one.takenMs.push(performance.now() - startedAt);
      if (status !== 200) one.failed += 1;
    }
    await sleep(everyMs);
  }
  for (const { what, takenMs, failed } of probes) {
    print(`${label}: ${what}`, {
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
    'daemon without a processor ms': waitedMs(pid) - waitedBefore,
  });
}

async function ask(
  url: string,
  agent: Agent | false = false,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const request = get(url, { agent, headers }, (answer) => {
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
