import { setTimeout as delay } from 'node:timers/promises';
import type { DrainResult } from '../drain/drain.ts';

/** A subscription's drain that has ended. */
export interface EndedDrain extends DrainResult {
  readonly subscription: string;
  readonly hasFailed: boolean;
}

export interface SliceDeps {
  /** Drains one subscription. */
  readonly drain: (subscription: string) => Promise<DrainResult>;
  /** Receives the error of a drain that failed; returns when it begins again. */
  readonly failed: (subscription: string, error: Error) => DrainResult;
  /** Counts a drain as ended, at once: others may begin. */
  readonly left: () => void;
  /** Gives back the drains that have ended, and wakes those that are not through. */
  readonly conclude: (ended: readonly EndedDrain[]) => Promise<void>;
}

// Milliseconds in which drains that end are concluded together.
const gatherMs = 10;
// Milliseconds until drains that could not be given back are tried again.
const againMs = 1_000;

/**
 * Drains the subscriptions of a slice side by side. Each is given back when it has ended, whatever becomes of
 * the others: an endpoint that hangs holds no other. A drain that could not be given back while others are
 * under way is given back later, and woken then, because a wake-up may have been lost with the reply. Rejects
 * when it fails once all have ended.
 */
export async function drainSlice(
  subscriptions: readonly string[],
  { drain, failed, left, conclude }: SliceDeps,
): Promise<void> {
  let underWay = subscriptions.length;
  let ended: EndedDrain[] = [];
  let kept: EndedDrain[] = [];
  let wakeUp = Promise.withResolvers<void>();
  const failures: unknown[] = [];

  async function drainOne(subscription: string): Promise<void> {
    let result: DrainResult;
    let hasFailed = false;
    try {
      result = await drain(subscription);
    } catch (error) {
      result = failed(subscription, error as Error);
      hasFailed = true;
    }
    ended.push({ subscription, wakeAt: result.wakeAt, hasFailed });
    underWay -= 1;
    left();
    wakeUp.resolve();
  }

  for (const subscription of subscriptions) void drainOne(subscription);
  while (underWay > 0 || ended.length > 0 || kept.length > 0) {
    // oxlint-disable no-await-in-loop
    if (ended.length === 0 && kept.length === 0) await wakeUp.promise;
    if (underWay > 0) await delay(gatherMs);
    wakeUp = Promise.withResolvers();
    const some = [...kept, ...ended];
    [ended, kept] = [[], []];
    try {
      await conclude(some);
    } catch (error) {
      if (underWay === 0) failures.push(error);
      else {
        kept = some.map(({ subscription }) => ({ subscription, wakeAt: 0, hasFailed: false }));
        await delay(againMs);
      }
    }
    // oxlint-enable no-await-in-loop
  }
  if (failures.length > 0) throw failures[0];
}
