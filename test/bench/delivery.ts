import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBareProcess } from './support/bare-process.ts';
import { createDeliveryRig, type DeliveryRig } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess, type ReceiverProcess } from './support/receiver-process.ts';
import { startRigProcess } from './support/rig-process.ts';
import { median, print } from './support/statistics.ts';

const callbacksPerRun = 6_000;
const runs = 5;
const inFlight = 10;
const subscriptionCounts = (process.env['BENCH_SUBSCRIPTIONS'] ?? '1,5,20,1000').split(',').map(Number);

/**
 * Callbacks per second of the whole delivery path, against a bare undici loop that signs and posts the same
 * bodies to the same receiver with as many in flight. Both alternate, and so does which of them begins;
 * medians are printed, of the two figures and of the ratio within each pair. Each has a process of its own,
 * so that neither runs code that the engine has shaped for the other. Then the same work by one process and
 * by two. `BENCH_SUBSCRIPTIONS` (1,5,20,1000) names other numbers of subscriptions and leaves out the rest.
 */
export async function run(): Promise<void> {
  for (const subscriptions of subscriptionCounts)
    // One after the other: they would disturb each other.
    await compare('everysec', subscriptions);
  if (process.env['BENCH_SUBSCRIPTIONS'] !== undefined) return;
  await compare('always', 5);
  await compareProcesses();
}

async function compare(appendfsync: 'always' | 'everysec', subscriptions: number): Promise<void> {
  await using redis = await startPrivateRedis(appendfsync);
  await using receiver = await startReceiverProcess();
  await using rig = await startRigProcess(redis.url);
  await using bareClient = await startBareProcess();
  const bare: number[] = [];
  const product: number[] = [];
  // The first of each warms up.
  for (let i = 0; i <= runs; i += 1) {
    // oxlint-disable no-await-in-loop
    const account = `a${randomBytes(4).toString('hex')}`;
    const urls = Array.from({ length: subscriptions }, (_, n) => `${receiver.url}/${account}/${n}`);
    const bodies = await rig.prepare(account, urls, callbacksPerRun / subscriptions);
    const turns = [
      async () => bare.push(await bareClient.post(urls, bodies, inFlight)),
      async () => product.push(await rig.deliver(account, callbacksPerRun)),
    ];
    for (const turn of i % 2 === 0 ? turns : turns.toReversed()) await turn();
    await receiver.arrivals();
    // oxlint-enable no-await-in-loop
    if (i === 0) bare.length = product.length = 0;
  }
  print(`${subscriptions} subscriptions, AOF ${appendfsync}`, {
    'delivery/s': median(product),
    'bare/s': median(bare),
    'ratio within pairs': median(product.map((rate, i) => rate / (bare[i] ?? Number.NaN))),
  });
}

const subscriptionsOfTwo = 20;

async function compareProcesses(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using rig = await createDeliveryRig(redis.url);
  const one: number[] = [];
  const two: number[] = [];
  for (let i = 0; i <= runs; i += 1) {
    // oxlint-disable no-await-in-loop
    const alone = await measureArrivals(rig, receiver);
    const second = await startRigProcess(redis.url);
    const together = await measureArrivals(rig, receiver);
    await second[Symbol.asyncDispose]();
    // oxlint-enable no-await-in-loop
    if (i === 0) continue;
    one.push(alone);
    two.push(together);
  }
  print(`${subscriptionsOfTwo} subscriptions, two processes`, {
    'one/s': median(one),
    'two/s': median(two),
    'ratio within pairs': median(two.map((rate, i) => rate / (one[i] ?? Number.NaN))),
  });
}

// Counted at the receiver, for each process knows of its own callbacks only.
async function measureArrivals(rig: DeliveryRig, receiver: ReceiverProcess): Promise<number> {
  const account = `a${randomBytes(4).toString('hex')}`;
  const urls = Array.from({ length: subscriptionsOfTwo }, (_, n) => `${receiver.url}/${account}/${n}`);
  await rig.subscribe(account, urls);
  await rig.fill(account, callbacksPerRun / subscriptionsOfTwo);
  await receiver.arrivals();
  const startedAt = performance.timeOrigin + performance.now();
  await rig.wake(account);
  let count = 0;
  let last = startedAt;
  while (count < callbacksPerRun) {
    // oxlint-disable no-await-in-loop
    await sleep(20);
    const arrived = await receiver.arrivals();
    // oxlint-enable no-await-in-loop
    count += arrived.length;
    last = arrived.at(-1)?.at ?? last;
  }
  return (count / (last - startedAt)) * 1_000;
}
