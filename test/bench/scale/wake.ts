import { setTimeout as sleep } from 'node:timers/promises';
import { fillLog } from '../support/delivery-rig.ts';
import type { Stage } from './stage.ts';

const betweenMs = 20;

/**
 * Appends events to an account, one after the other, and wakes it; one of its subscriptions has to match.
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
    await waker.wake(account);
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

/** Resolves when no account was waiting or being delivered to for so many seconds. */
export async function untilDrained({ parts }: Stage, seconds: number): Promise<void> {
  const atWork = async () => {
    const counts = await parts.deliverQueue.jobs.getJobCounts('waiting', 'active', 'prioritized');
    return Object.values(counts).reduce((a, b) => a + b, 0);
  };
  let quietSince = performance.now();
  while (performance.now() - quietSince < seconds * 1_000) {
    // oxlint-disable no-await-in-loop
    if ((await atWork()) > 0) quietSince = performance.now();
    await sleep(100);
    // oxlint-enable no-await-in-loop
  }
}
