import { randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { parseSecret, sign } from '../../src/delivery/sign.ts';
import { benchSecret, createDeliveryRig, type DeliveryRig } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { median, print } from './support/statistics.ts';

const callbacksPerRun = 6_000;
const runs = 5;
const inFlight = 10;

/**
 * Callbacks per second of the whole delivery path, against a bare undici loop that signs and posts the same bodies to
 * the same receiver with as many in flight. Both alternate; medians are printed, and their ratio.
 */
export async function run(): Promise<void> {
  await compare('everysec', 1);
  await compare('everysec', 5);
  await compare('everysec', 20);
  await compare('always', 5);
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
    const pair = [await measureBare(urls, bodies), await measureProduct(rig, account)];
    await receiver.arrivals();
    // oxlint-enable no-await-in-loop
    if (i === 0) continue;
    bare.push(pair[0] ?? 0);
    product.push(pair[1] ?? 0);
  }
  print(`${subscriptions} subscriptions, AOF ${appendfsync}`, {
    'delivery/s': median(product),
    'bare/s': median(bare),
    ratio: median(product) / median(bare),
  });
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
