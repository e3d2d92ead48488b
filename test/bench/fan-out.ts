import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { startRigProcess } from './support/rig-process.ts';
import { percentile, print } from './support/statistics.ts';
import { usageOf } from '../support/daemon/process-usage.ts';

const subscriptions = 10_000;
const events = 3;

/**
 * One event for ten thousand subscriptions, three times: from waking them to the first byte at each, with what
 * each costs of the processor and of Redis. The first one is also the first work of its process.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using rig = await startRigProcess(redis.url);
  const urls = Array.from({ length: subscriptions }, (_, i) => `${receiver.url}/${i}`);
  await rig.prepare('a', urls, 0);
  for (let event = 1; event <= events; event += 1) {
    // oxlint-disable no-await-in-loop
    await rig.append('a', 1);
    const startedAt = performance.timeOrigin + performance.now();
    const { cpuMicros, redisMicros, commands } = await rig.deliver('a', subscriptions);
    const delays = (await receiver.arrivals()).map(({ at }) => at - startedAt);
    const { rssMiB } = await usageOf(rig.pid);
    // oxlint-enable no-await-in-loop
    print(`event ${event}, ${subscriptions} subscriptions`, {
      called: delays.length.toString(),
      'p50 ms': percentile(delays, 0.5),
      'all within ms': Math.max(...delays),
      'daemon µs each': cpuMicros - redisMicros,
      'Redis µs each': redisMicros,
      'Redis commands each': commands,
      'RSS MiB': rssMiB,
    });
  }
}
