import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { parseSecret, sign } from '../../src/delivery/sign.ts';
import { benchSecret, createDeliveryRig, type DeliveryRig } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess, type ReceiverProcess } from './support/receiver-process.ts';
import { startRigProcess } from './support/rig-process.ts';
import { median, print } from './support/statistics.ts';

const callbacksPerRun = 6_000;
const runs = 5;
const inFlight = 10;
const subscriptionCounts = (process.env['BENCH_SUBSCRIPTIONS'] ?? '1,5,20,1000').split(',').map(Number);

/**
 * Callbacks per second of the whole delivery path, against a bare undici loop that signs and posts the same bodies to
 * the same receiver with as many in flight. Both alternate, and so does which of them begins; medians are printed, of the
 * two figures and of the ratio within each pair. Then the same work by one process and by two. `BENCH_SUBSCRIPTIONS` (1,5,20,1000) names
 * other numbers of subscriptions and leaves out the rest.
 */
export async function run(): Promise<void> {
  for (const subscriptions of subscriptionCounts)
    // One after the other: they would disturb each other.
    // oxlint-disable-next-line no-await-in-loop
    await compare('everysec', subscriptions);
  if (process.env['BENCH_SUBSCRIPTIONS'] !== undefined) return;
  await compare('always', 5);
  await compareProcesses();
}

async function compare(appendfsync: 'always' | 'everysec', subscriptions: number): Promise<void> {
  await using redis = await startPrivateRedis(appendfsync);
  await using receiver = await startReceiverProcess();
  await using rig = createDeliveryRig(redis.url);
  const bare: number[] = [];
  const product: number[] = [];
  // The first of each warms up.
  for (let i = 0; i <= runs; i += 1) {
    // oxlint-disable no-await-in-loop
    const account = `a${randomBytes(4).toString('hex')}`;
    const urls = Array.from({ length: subscriptions }, (_, n) => `${receiver.url}/${account}/${n}`);
    await rig.subscribe(account, urls);
    const events = await rig.fill(account, callbacksPerRun / subscriptions);
    const bodies = events.map(({ body }) => body);
    const bareFirst = i % 2 === 0;
    const early = bareFirst ? await measureBare(urls, bodies) : await measureProduct(rig, account);
    const late = bareFirst ? await measureProduct(rig, account) : await measureBare(urls, bodies);
    await receiver.arrivals();
    // oxlint-enable no-await-in-loop
    if (i === 0) continue;
    bare.push(bareFirst ? early : late);
    product.push(bareFirst ? late : early);
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
  await using rig = createDeliveryRig(redis.url);
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

async function measureProduct(rig: DeliveryRig, account: string): Promise<number> {
  const target = rig.delivered() + callbacksPerRun;
  const startedAt = performance.now();
  await rig.wake(account);
  await rig.untilDelivered(target);
  return (callbacksPerRun / (performance.now() - startedAt)) * 1_000;
}

async function measureBare(urls: readonly string[], bodies: readonly Buffer[]): Promise<number> {
  const agent = new Agent({ pipelining: 1 });
  const key = parseSecret(benchSecret);
  const startedAt = performance.now();
  await Promise.all(
    urls.map(async (url) => {
      let next = 0;
      const post = async (): Promise<void> => {
        for (let i = next++; i < bodies.length; i = next++) {
          const body = bodies[i] ?? Buffer.alloc(0);
          const id = `evt_${i}`;
          const timestamp = Math.floor(Date.now() / 1_000);
          const headers = {
            'content-type': 'application/json',
            'user-agent': 'bare',
            'webhook-id': id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': sign([key], id, timestamp, body),
          };
          // oxlint-disable-next-line no-await-in-loop
          const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent });
          // oxlint-disable-next-line no-await-in-loop
          await answer.body.dump();
        }
      };
      await Promise.all(Array.from({ length: inFlight }, post));
    }),
  );
  const elapsedMs = performance.now() - startedAt;
  await agent.close();
  return (callbacksPerRun / elapsedMs) * 1_000;
}
