import { clockStepMsMin } from '../../redis/clock.ts';
import type { Lane } from './lanes.ts';
import type { EndpointHealth } from './endpoint-health.ts';

// Milliseconds by which an attempt may be later than it was due, for the processes were busy, and count as
// failing nevertheless.
const lateMsMax = 10 * 60_000;

/**
 * By how much Redis's clock was ahead (milliseconds) when a drain last wrote at `settledAt`, where that lies
 * in the future; 0 otherwise, and for what a correction by NTP explains; pure.
 */
export function aheadMsOf(settledAt: number, now: number): number {
  return settledAt > now + clockStepMsMin ? settledAt - now : 0;
}

/**
 * The endpoint's health as it would be had Redis's clock not been ahead by so much when it was written; pure.
 * A pause keeps what was left of it.
 */
export function correctedHealth(health: EndpointHealth, aheadMs: number, now: number): EndpointHealth {
  const { pausedUntil, failingSince, workedAt, lastSuccessAt } = health;
  return {
    ...health,
    pausedUntil: Math.max(0, pausedUntil - aheadMs),
    failingSince: Math.min(failingSince, now),
    workedAt: Math.min(workedAt, now),
    lastSuccessAt: Math.min(lastSuccessAt, now),
  };
}

/** The same for a lane; pure. One that was decided before, by a clock that was right, stays as it is. */
export function correctedLane(lane: Lane, aheadMs: number, now: number): Lane {
  if (lane.decidedAt <= now + clockStepMsMin) return lane;
  const byMs = Math.max(aheadMs, lane.decidedAt - now);
  return { ...lane, dueAt: lane.dueAt - byMs, decidedAt: lane.decidedAt - byMs };
}

/**
 * The endpoint's health when something was to be tried at `expectedAt` and it is `now`; pure. What lies
 * between beyond ten minutes does not count as failing: nothing was tried then, for no process ran or Redis's
 * clock went ahead.
 */
export function healthAfterGap(health: EndpointHealth, expectedAt: number, now: number): EndpointHealth {
  const idleMs = now - expectedAt - lateMsMax;
  if (idleMs <= 0 || health.failingSince === 0) return health;
  return { ...health, failingSince: Math.min(now, health.failingSince + idleMs) };
}
