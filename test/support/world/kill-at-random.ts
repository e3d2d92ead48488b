import { setTimeout as delay } from 'node:timers/promises';
import { vi } from 'vitest';
import type { TapedCallback } from '../journals/journals.ts';
import type { SupervisedDaemon } from './supervised-daemon.ts';
import type { TapingReceiver } from './taping-receiver.ts';
import type { World } from './world.ts';
import type { Random } from '../../../src/sandbox/random.ts';

const nextWithinMs = { start: 4_000, work: 1_000 };
const recoveryTimeoutMs = 60_000;

/** How long a world needed to be at work again, milliseconds. */
export interface Recovery {
  /** From the kill until the killed daemon's next process had started: the machine's share. */
  readonly startMs: number;
  /** From the kill until each subscriber had got a change that was detected after it. */
  readonly deliveryMs: number;
}

/**
 * Kills random daemons of a world in which filings move. Every other kill comes wherever the start and the
 * taking over have got to since the former one, the others in the midst of work. Returns what came of those
 * after which it was left to recover.
 */
export async function killAtRandom(world: World, kills: number, random: Random): Promise<Recovery[]> {
  const recoveries: Recovery[] = [];
  for (let i = 0; i < kills; i += 1) {
    const comesAgain = i % 2 === 0 && i < kills - 1;
    await delay(random() * (i % 2 === 1 ? nextWithinMs.start : nextWithinMs.work));
    const daemon = world.daemons[Math.floor(random() * world.daemons.length)];
    await daemon?.kill();
    if (daemon !== undefined && !comesAgain) recoveries.push(await recovery(world, daemon));
  }
  return recoveries;
}

async function recovery(world: World, killed: SupervisedDaemon): Promise<Recovery> {
  const killedAt = Date.now();
  const sinceKill = () => Date.now() - killedAt;
  const [startMs, deliveryMs] = await Promise.all([
    killed.untilStarted().then(sinceKill),
    untilAllGotNew(world, killedAt).then(sinceKill),
  ]);
  return { startMs, deliveryMs };
}

function untilAllGotNew({ journals, receiver }: World, since: number): Promise<void> {
  const ids = journals().subscribers.map(({ id }) => id);
  return untilGotNew(receiver, ids, since);
}

/** Resolves when each of these subscribers has got a change that was detected after `since`. */
export async function untilGotNew(
  { callbacks }: TapingReceiver,
  ids: readonly string[],
  since: number,
): Promise<void> {
  const missing = new Set(ids);
  let next = callbacks.length;
  const allGot = () => {
    for (const callback of callbacks.slice(next))
      if (detectedAt(callback) > since) missing.delete(callback.subscription);
    next = callbacks.length;
    return missing.size === 0;
  };
  await vi.waitUntil(allGot, { timeout: recoveryTimeoutMs, interval: 20 });
}

function detectedAt({ body }: TapedCallback): number {
  return Date.parse((JSON.parse(body.toString()) as { timestamp: string }).timestamp);
}

/** The middle, the 99th percentile and the largest of the times after the kill; pure. */
export function describeRecoveries(recoveries: readonly Recovery[]): string {
  const described = (of: keyof Recovery) => {
    const sorted = recoveries.map((each) => each[of]).toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
    return `p50 ${at(0.5)} p99 ${at(0.99)} max ${at(1)}`;
  };
  return `${recoveries.length} times ms to the start ${described('startMs')}, to a new change delivered to everybody ${described('deliveryMs')}`;
}
