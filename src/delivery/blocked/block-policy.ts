import type { Block } from '../../subscriptions/subscription.ts';
import { nextProbeMs, probeDelayMsMax } from '../schedule/endpoint-health.ts';

const firstDelayMs = 1_000;

/**
 * The block after one more failed drain; pure. The next drain is due after a second, then after twice as long
 * each time, up to five minutes.
 */
export function blockAfter(former: Block | null, reason: string, now: number, random: () => number): Block {
  const times = (former?.times ?? 0) + 1;
  const nextAt = now + nextProbeMs(times, firstDelayMs, random);
  return { reason, since: former?.since ?? now, times, nextAt };
}

/**
 * Whether a blocked subscription is to be left alone now; pure. A wait longer than the maximum was decided by
 * a clock that was ahead, and does not count.
 */
export function isBlocking(block: Block | null, now: number): boolean {
  return block !== null && now < block.nextAt && block.nextAt <= now + probeDelayMsMax;
}
