import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createKeys } from '../../src/redis/keys.ts';
import { createDeliveryRig } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { print } from './support/statistics.ts';

const subscriptions = 10_000;
const account = 'a';
const settings = { eventTypes: ['filing.rejected'] };

/**
 * What ten thousand subscriptions with nothing to do take of Redis, in bytes for each: their settings, and all
 * else that is kept of them, by kind. They join an account that is delivered to, and each has passed over an
 * event that it does not want.
 */
export async function run(): Promise<void> {
  await using server = await startPrivateRedis('in memory');
  await using rig = await createDeliveryRig(server.url);
  const redis = new Redis(server.url);
  try {
    const { delivery } = createKeys('bench').account(account);
    const pass = async (level: number) => {
      await rig.fill(account, 1);
      await rig.wake(account);
      while ((await redis.hget(delivery, 'level')) !== String(level)) await sleep(20);
    };
    await rig.subscribe(account, ['http://127.0.0.1:9/'], settings);
    await pass(1);
    const before = await bytesByKind(redis);
    const urls = Array.from({ length: subscriptions }, (_, i) => `http://127.0.0.1:9/${i}`);
    await rig.subscribe(account, urls, settings);
    await pass(2);
    const bytes = await bytesByKind(redis);
    const kinds = [...bytes].map(
      ([kind, each]) => [kind, (each - (before.get(kind) ?? 0)) / subscriptions] as const,
    );
    const beside = kinds.filter(([kind]) => kind !== 'subscriptions');
    print(`${subscriptions} subscriptions, bytes each`, {
      settings: (bytes.get('subscriptions') ?? 0) / subscriptions,
      'beside them': beside.reduce((sum, [, each]) => sum + each, 0),
      ...Object.fromEntries(beside.filter(([, each]) => each >= 1)),
    });
  } finally {
    redis.disconnect();
  }
}

/** Bytes of all keys by their kind: the name below the account, without that of a subscription. */
async function bytesByKind(redis: Redis): Promise<Map<string, number>> {
  const bytes = new Map<string, number>();
  for await (const found of redis.scanStream({ count: 1_000 })) {
    const keys = found as string[];
    const pipeline = redis.pipeline();
    for (const key of keys) pipeline.memory('USAGE', key, 'SAMPLES', 0);
    const replies = (await pipeline.exec()) ?? [];
    for (const [i, key] of keys.entries()) {
      const kind = key.replace(/^[^{]*\{[^}]*\}:?/, '').replace(/sub_\w+/, 'ID');
      bytes.set(kind, (bytes.get(kind) ?? 0) + Number(replies[i]?.[1] ?? 0));
    }
  }
  return bytes;
}
