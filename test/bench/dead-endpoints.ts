import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliveryRig } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { percentile, print } from './support/statistics.ts';

const healthy = 500;
const events = 20;
const rounds = 2;
const everyMs = 1_000;
// Nobody listens there.
const refusing = 'http://127.0.0.1:19999';
const deadPaths = ['hang', 'error', 'reset'];

/** Five hundred healthy subscriptions, alone and beside five hundred whose endpoints hang, fail, reset or refuse, in turn. */
export async function run(): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    // oxlint-disable no-await-in-loop
    await measure('alone', () => []);
    await measure('beside as many dead ones', deadUrls);
    // oxlint-enable no-await-in-loop
  }
}

function deadUrls(url: string): string[] {
  return Array.from({ length: healthy }, (_, i) => {
    const path = deadPaths[i % (deadPaths.length + 1)];
    return path === undefined ? `${refusing}/${i}` : `${url}/${path}/${i}`;
  });
}

async function measure(label: string, deadOf: (url: string) => string[]): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using rig = createDeliveryRig(redis.url);
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
  await sleep(1_000);
  const arrivals = await receiver.arrivals();
  const delays = arrivals
    .filter(({ path }) => path.startsWith('/healthy'))
    .map(({ id, at }) => at - (sentAt.get(id) ?? 0));
  print(label, {
    delivered: `${delays.length}/${healthy * events}`,
    'p50 ms': percentile(delays, 0.5),
    'p99 ms': percentile(delays, 0.99),
    'RSS MiB': process.memoryUsage().rss / 2 ** 20,
  });
}
