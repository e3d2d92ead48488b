import { setTimeout as sleep } from 'node:timers/promises';
import { eventType, fillLog } from '../support/delivery-rig.ts';
import type { Stage } from './stage.ts';

const betweenMs = 20;

/**
 * Appends events to an account, one after the other, and wakes its subscriptions, of which one has to match.
 * Resolves when all have arrived.
 */
export async function deliverSome(stage: Stage, account: string, events: number): Promise<void> {
  const { receiver, parts } = stage;
  const { redis, keys, waker } = parts;
  await receiver.arrivals();
  let missing = events;
  for (let i = 0; i < events; i += 1) {
    // oxlint-disable no-await-in-loop
    await fillLog(redis, keys.account(account), account, 1);
    await waker.wakeMatching(account, [{ type: eventType, state: 'TX', status: '' }]);
    await sleep(betweenMs);
    // oxlint-enable no-await-in-loop
  }
  while (missing > 0) {
    // oxlint-disable no-await-in-loop
    missing -= (await receiver.arrivals()).length;
    await sleep(betweenMs);
    // oxlint-enable no-await-in-loop
  }
}

/** Resolves when no drain was waiting or under way for so many seconds. */
export async function untilDrained({ parts }: Stage, seconds: number): Promise<void> {
  const drains = async () => {
    const counts = await Promise.all(
      parts.drainQueue.queues.map((queue) => queue.getJobCounts('waiting', 'active', 'prioritized')),
    );
    return counts.reduce((sum, each) => sum + Object.values(each).reduce((a, b) => a + b, 0), 0);
  };
  let quietSince = performance.now();
  while (performance.now() - quietSince < seconds * 1_000) {
    // oxlint-disable no-await-in-loop
    if ((await drains()) > 0) quietSince = performance.now();
    await sleep(100);
    // oxlint-enable no-await-in-loop
  }
}
