import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliveryRig, type DeliveryRig } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { median, percentile, print } from './support/statistics.ts';

const healthy = 20;
const eventsPerSecond = 50;
const seconds = 10;
const rounds = 3;

// Attempts a second of each of the throttled subscriptions, which are as many as the healthy ones.
const rate = 5;

type Beside = 'alone' | 'one that hangs' | 'throttled ones';

/**
 * Twenty healthy subscriptions at a steady rate of events, alone, with a twenty-first whose endpoint never
 * answers, and with twenty whose own rate is a tenth of the events, in turn: from waking to the first byte at
 * the healthy ones, and how many callbacks the others got.
 */
export async function run(): Promise<void> {
  const all: Record<Beside, number[]> = { alone: [], 'one that hangs': [], 'throttled ones': [] };
  for (let round = 0; round < rounds; round += 1)
    for (const beside of Object.keys(all) as Beside[]) {
      // oxlint-disable-next-line no-await-in-loop
      all[beside].push(await measure(beside));
    }
  const ratio = (beside: Beside) => median(all[beside].map((p99, i) => p99 / (all.alone[i] ?? Number.NaN)));
  print('medians of p99', {
    'alone ms': median(all.alone),
    'beside one that hangs ms': median(all['one that hangs']),
    'beside throttled ones ms': median(all['throttled ones']),
    'ratio within rounds, hanging': ratio('one that hangs'),
    'ratio within rounds, throttled': ratio('throttled ones'),
  });
}

async function measure(beside: Beside): Promise<number> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using rig = await createDeliveryRig(redis.url);
  const urls = Array.from({ length: healthy }, (_, i) => `${receiver.url}/${i}`);
  await rig.subscribe('a', beside === 'one that hangs' ? [...urls, `${receiver.url}/hang`] : urls);
  const others = Array.from({ length: healthy }, (_, i) => `${receiver.url}/throttled${i}`);
  if (beside === 'throttled ones') await rig.subscribe('a', others, { rate });
  const sentAt = await publishSteadily(rig);
  await sleep(500);
  const arrivals = await receiver.arrivals();
  const delays = arrivals.flatMap(({ path, id, at }) => {
    const sent = isOther(path) ? undefined : sentAt.get(id);
    return sent === undefined ? [] : at - sent;
  });
  const p99 = percentile(delays, 0.99);
  print(beside === 'alone' ? beside : `beside ${beside}`, {
    callbacks: delays.length.toString(),
    expected: (sentAt.size * healthy).toString(),
    'p50 ms': percentile(delays, 0.5),
    'p99 ms': p99,
    'sent to the others': arrivals.filter(({ path }) => isOther(path)).length.toString(),
  });
  return p99;
}

function isOther(path: string): boolean {
  return path.startsWith('/hang') || path.startsWith('/throttled');
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
