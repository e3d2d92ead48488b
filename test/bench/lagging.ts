import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../support/daemon/process-usage.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { startRigProcess } from './support/rig-process.ts';
import { print } from './support/statistics.ts';

const level = 9_000;
const lagging = 1_000;
const behind = 10_000;
const callbacks = 60_000;

/**
 * The memory of a deliverer of ten thousand subscriptions, a thousand of which lag by ten thousand events of
 * 1.5 KB: while the others get a new event and these catch up, until so many callbacks are made.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using rig = await startRigProcess(redis.url);
  const urls = (count: number) => Array.from({ length: count }, (_, i) => `${receiver.url}/${i}`);
  await rig.prepare('a', urls(lagging), behind, { from: 'earliest' });
  await rig.prepare('a', urls(level), 1);
  const delivering = rig.deliver('a', callbacks);
  let rssMiB = 0;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      rssMiB = Math.max(rssMiB, (await usageOf(rig.pid)).rssMiB);
      await sleep(200);
    }
  })();
  const { perSecond } = await delivering;
  isDone = true;
  await watching;
  print(`${lagging} of ${level + lagging} subscriptions lag by ${behind} events`, {
    'callbacks/s': perSecond,
    'RSS MiB at most': rssMiB,
  });
}
