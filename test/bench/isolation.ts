import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliveryRig, type DeliveryRig } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { median, percentile, print } from './support/statistics.ts';

const healthy = 20;
const eventsPerSecond = 50;
const seconds = 10;
const rounds = 3;

/**
 * Twenty healthy subscriptions at a steady rate of events, without and with a twenty-first whose endpoint
 * never answers, in turn: from waking to the first byte at the healthy ones, and how many callbacks the
 * hanging one held at most.
 */
export async function run(): Promise<void> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // oxlint-disable no-await-in-loop
    alone.push(await measure(false));
    beside.push(await measure(true));
    // oxlint-enable no-await-in-loop
  }
  print('medians of p99', {
    'alone ms': median(alone),
    'beside ms': median(beside),
    'ratio within rounds': median(beside.map((p99, i) => p99 / (alone[i] ?? Number.NaN))),
  });
}

async function measure(hanging: boolean): Promise<number> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using rig = await createDeliveryRig(redis.url);
  const urls = Array.from({ length: healthy }, (_, i) => `${receiver.url}/${i}`);
  await rig.subscribe('a', hanging ? [...urls, `${receiver.url}/hang`] : urls);
  const sentAt = await publishSteadily(rig);
  await sleep(500);
  const arrivals = await receiver.arrivals();
  const delays = arrivals.flatMap(({ path, id, at }) => {
    const sent = path.startsWith('/hang') ? undefined : sentAt.get(id);
    return sent === undefined ? [] : at - sent;
  });
  const p99 = percentile(delays, 0.99);
  print(hanging ? 'beside one that hangs' : 'alone', {
    callbacks: delays.length.toString(),
    expected: (sentAt.size * healthy).toString(),
    'p50 ms': percentile(delays, 0.5),
    'p99 ms': p99,
    'sent to the hanging one': arrivals.filter(({ path }) => path.startsWith('/hang')).length.toString(),
  });
  return p99;
}

async function publishSteadily(rig: DeliveryRig): Promise<Map<string, number>> {
  const sentAt = new Map<string, number>();
  const startedAt = performance.now();
  for (let i = 0; i < eventsPerSecond * seconds; i += 1) {
    const early = startedAt + (i * 1_000) / eventsPerSecond - performance.now();
    // oxlint-disable no-await-in-loop
    if (early > 0) await sleep(early);
    const [event] = await rig.fill('a', 1);
    if (event !== undefined) sentAt.set(event.id, performance.timeOrigin + performance.now());
    await rig.wake('a');
    // oxlint-enable no-await-in-loop
  }
  return sentAt;
}
