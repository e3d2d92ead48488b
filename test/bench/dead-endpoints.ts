import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliveryRig, type DeliveryRig } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { median, percentile, print } from './support/statistics.ts';

const healthy = 500;
const events = 20;
const rounds = 2;
const everyMs = 1_000;
const backlog = 30;
// Nobody listens there.
const refusing = 'http://127.0.0.1:19999';
const deadPaths = ['hang', 'error', 'reset'];

/**
 * Five hundred healthy subscriptions, alone and beside five hundred whose endpoints hang, fail, reset or
 * refuse, in turn: their delays at a steady rate of events, then how fast they get a backlog.
 */
export async function run(): Promise<void> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // oxlint-disable no-await-in-loop
    alone.push(await measure('alone', () => []));
    beside.push(await measure('beside as many dead ones', deadUrls));
    // oxlint-enable no-await-in-loop
  }
  const kept = beside.map((perSecond, i) => perSecond / (alone[i] ?? Number.NaN));
  print('throughput of the healthy, within rounds', { kept: median(kept) });
}

function deadUrls(url: string): string[] {
  return Array.from({ length: healthy }, (_, i) => {
    const path = deadPaths[i % (deadPaths.length + 1)];
    return path === undefined ? `${refusing}/${i}` : `${url}/${path}/${i}`;
  });
}

async function measure(label: string, deadOf: (url: string) => string[]): Promise<number> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using rig = await createDeliveryRig(redis.url);
  const urls = Array.from({ length: healthy }, (_, i) => `${receiver.url}/healthy/${i}`);
  await rig.subscribe('a', [...deadOf(receiver.url), ...urls]);
  const sentAt = new Map<string, number>();
  const startedAt = performance.now();
  for (let i = 0; i < events; i += 1) {
    // oxlint-disable no-await-in-loop
    await sleep(Math.max(0, startedAt + i * everyMs - performance.now()));
    const [event] = await rig.fill('a', 1);
    sentAt.set(event?.id ?? '', performance.timeOrigin + performance.now());
    await rig.wake('a');
    // oxlint-enable no-await-in-loop
  }
  await rig.untilDelivered(healthy * events);
  const arrivals = await receiver.arrivals();
  const perSecond = await deliverBacklog(rig);
  const delays = arrivals
    .filter(({ path }) => path.startsWith('/healthy'))
    .map(({ id, at }) => at - (sentAt.get(id) ?? 0));
  print(label, {
    delivered: `${delays.length}/${healthy * events}`,
    'p50 ms': percentile(delays, 0.5),
    'p99 ms': percentile(delays, 0.99),
    'backlog callbacks/s': perSecond,
    'RSS MiB': process.memoryUsage().rss / 2 ** 20,
  });
  return perSecond;
}

async function deliverBacklog(rig: DeliveryRig): Promise<number> {
  const before = rig.delivered();
  await rig.fill('a', backlog);
  const startedAt = performance.now();
  await rig.wake('a');
  await rig.untilDelivered(before + healthy * backlog);
  return (healthy * backlog * 1_000) / (performance.now() - startedAt);
}
