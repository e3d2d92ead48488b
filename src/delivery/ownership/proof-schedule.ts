import { probeDelayMsMax } from '../schedule/endpoint-health.ts';
import { blockAfter } from '../blocked/block-policy.ts';
import type { Block } from '../../subscriptions/subscription.ts';
import type { Asked } from './ask-endpoint.ts';

/** Milliseconds for which the daemon asks an endpoint by itself. */
const askedForMs = 24 * 3_600_000;

const remedy = 'Answer as docs/endpoints/ownership.md says; POST …/verify asks at once.';

/** Whether the daemon has asked for long enough. */
export function hasAskedEnough(block: Block | null, now: number): boolean {
  return block !== null && block.times > 0 && now - block.since >= askedForMs;
}

/**
 * The block after a question that was answered without permission: the next one is asked after a second, then
 * after twice as long each time, up to five minutes. A `Retry-After` is waited for up to that long.
 */
export function blockAfterRefusal(
  former: Block | null,
  { permission, outcome }: Asked,
  now: number,
  random: () => number,
): Block {
  const why = permission.granted ? '' : permission.reason;
  const asked = former?.unverified === true ? former : null;
  const block = blockAfter(asked, `The endpoint is not verified. ${why} ${remedy}`, now, random);
  const askedToWaitMs = outcome.kind === 'slow_down' ? Math.min(outcome.retryAfterMs, probeDelayMsMax) : 0;
  return { ...block, nextAt: Math.max(block.nextAt, now + askedToWaitMs), unverified: true };
}

/** The block while no question may be asked; it counts as none. */
export function blockUntilTurn(former: Block | null, now: number, inMs: number): Block {
  const reason =
    'The endpoint is not verified. Too many were asked within a minute: its turn comes in a moment.';
  return {
    reason,
    since: former?.since ?? now,
    times: former?.times ?? 0,
    nextAt: now + Math.min(inMs, probeDelayMsMax),
    unverified: true,
  };
}
