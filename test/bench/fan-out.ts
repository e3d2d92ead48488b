import { createDeliveryRig } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { ownMicros } from './support/processor-time.ts';
import { percentile, print } from './support/statistics.ts';

const subscriptions = 10_000;
const events = 3;

/**
 * One event for ten thousand subscriptions, three times: from waking them to the first byte at each, with what
 * each costs of the processor and of Redis.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using rig = await createDeliveryRig(redis.url);
  await rig.subscribe(
    'a',
    Array.from({ length: subscriptions }, (_, i) => `${receiver.url}/${i}`),
  );
  for (let event = 1; event <= events; event += 1) {
    // oxlint-disable no-await-in-loop
    await rig.fill('a', 1);
    const [usedBefore, redisBefore] = [ownMicros(), await rig.redisUse()];
    const startedAt = performance.timeOrigin + performance.now();
    await rig.wake('a');
    await rig.untilDelivered(subscriptions * event);
    const [used, redisAfter] = [ownMicros(), await rig.redisUse()];
    const delays = (await receiver.arrivals()).map(({ at }) => at - startedAt);
    // oxlint-enable no-await-in-loop
    print(`event ${event}, ${subscriptions} subscriptions`, {
      called: delays.length.toString(),
      'p50 ms': percentile(delays, 0.5),
      'all within ms': Math.max(...delays),
      'daemon µs each': (used - usedBefore) / subscriptions,
      'Redis µs each': (redisAfter.micros - redisBefore.micros) / subscriptions,
      'Redis commands each': (redisAfter.commands - redisBefore.commands) / subscriptions,
      'RSS MiB': process.memoryUsage().rss / 2 ** 20,
    });
  }
}
