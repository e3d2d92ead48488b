import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliveryRig, type DeliveryRig } from './delivery-rig.ts';
import { startPrivateRedis } from './private-redis.ts';
import { startReceiverProcess, type ReceiverProcess } from './receiver-process.ts';
import { startRigProcess } from './rig-process.ts';
import { median, print } from './statistics.ts';

const callbacksPerRun = 6_000;
const runs = 5;
const subscriptionsOfTwo = 20;

/** Callbacks per second of one process and of two over the same Redis, alternating. */
export async function compareProcesses(): Promise<void> {
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
