import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createDeliverQueue } from '../../src/delivery/deliver-queue.ts';
import { createDeliverWorker } from '../../src/delivery/deliver-worker.ts';
import { createRedisConnections } from '../../src/redis/connection/connect.ts';
import { createKeys } from '../../src/redis/keys.ts';
import { answer, isChild, startChild } from './support/child.ts';
import { startPrivateCluster, type PrivateCluster } from './support/private-cluster.ts';
import { print } from './support/statistics.ts';

const warmUpMs = 1_500;
const runMs = 6_000;
const writersAtOnce = 64;
const backlogMax = 1_000;
const primaries = 3;

interface Taken {
  readonly aSecond: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Number since the start of the process, the warm-up included. */
  readonly all: number;
}

/**
 * Wake-ups of accounts over a cluster of three primaries: queued, taken and finished by one and by two
 * processes. The runs themselves do nothing.
 */
export async function run(): Promise<void> {
  for (const processes of [1, 2]) {
    await using cluster = await startPrivateCluster(primaries);
    await measure(cluster, processes);
  }
}

async function measure(cluster: PrivateCluster, processes: number): Promise<void> {
  const children = await Promise.all(
    Array.from({ length: processes }, (_, i) => startChild<object>(import.meta.url, [cluster.url, `p${i}`])),
  );
  const before = await cluster.cpuMs();
  const taken = await Promise.all(children.map((child) => child.ask<Taken>({})));
  const after = await cluster.cpuMs();
  const wallMs = Math.max(...taken.map((each) => each.wallMs));
  const share = (ms: number) => `${((100 * ms) / wallMs).toFixed(0)} %`;
  const total = (of: (each: Taken) => number) => taken.reduce((sum, each) => sum + of(each), 0);
  const primariesMs = after.map((ms, i) => ms - (before[i] ?? 0));
  const processMs = total(({ cpuMs }) => cpuMs) / total((each) => (each.aSecond * each.wallMs) / 1_000);
  const redisMs = primariesMs.reduce((sum, ms) => sum + ms, 0) / total(({ all }) => all);
  print(`${processes} processes`, {
    'wake-ups/s': total(({ aSecond }) => aSecond),
    'CPU of processes': taken.map(({ cpuMs }) => share(cpuMs)).join(' '),
    'ms each': processMs,
    'CPU of primaries': primariesMs.map(share).join(' '),
    'ms each in all': redisMs,
    // What the processors of this machine could do, were they all for this.
    'bound by CPU': (cpus().length * 1_000) / (processMs + redisMs),
  });
  await Promise.all(children.map((child) => child[Symbol.asyncDispose]()));
}

async function takeWakeUps(url: string, name: string): Promise<Taken> {
  const fail = (error: Error) => void process.stderr.write(`${error.message}\n`);
  const connections = createRedisConnections(url, {
    connectionName: 'bench',
    onStateChange: () => undefined,
  });
  await connections.untilReady(10_000);
  const keys = createKeys('bench');
  const queue = createDeliverQueue(connections.command(), keys.queues, fail);
  let taken = 0;
  const worker = createDeliverWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    queue,
    concurrency: 2_000,
    async run() {
      taken += 1;
      return { wakeAt: null };
    },
    now: Date.now,
    onError: fail,
  });
  let woken = 0;
  let isOver = false;
  async function wakeOn(): Promise<void> {
    while (!isOver) {
      // Another account each time: one that still waits would not be queued again.
      woken += 1;
      await queue.wake(`account-${name}-${woken}`);
      while (!isOver && woken - taken > backlogMax) await delay(1);
    }
  }
  const running = Array.from({ length: writersAtOnce }, wakeOn);
  await delay(warmUpMs);
  const [cpu, from, startedAt] = [process.cpuUsage(), taken, performance.now()];
  await delay(runMs);
  const wallMs = performance.now() - startedAt;
  const used = process.cpuUsage(cpu);
  const aSecond = ((taken - from) * 1_000) / wallMs;
  isOver = true;
  await Promise.all(running);
  await worker.close();
  await queue.close();
  await connections.close();
  return { aSecond, wallMs, all: taken, cpuMs: (used.user + used.system) / 1_000 };
}

if (isChild(import.meta.url)) {
  const [, , url = '', name = ''] = process.argv;
  answer(() => takeWakeUps(url, name));
}
