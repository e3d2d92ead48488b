import { clockStepMsMin } from '../../redis/clock.ts';
import type { Lane } from './lanes.ts';
import type { EndpointHealth } from './endpoint-health.ts';

// Maximum milliseconds by which busy processes may delay an attempt. Up to that delay the time counts as
// failing.
const lateMsMax = 10 * 60_000;

/**
 * Milliseconds by which Redis's clock was ahead when a drain last wrote, at `settledAt`. 0 unless that lies
 * further in the future than a correction by NTP explains.
 */
export function aheadMsOf(settledAt: number, now: number): number {
  return settledAt > now + clockStepMsMin ? settledAt - now : 0;
}

/**
 * The endpoint's health as it would be if Redis's clock had not been ahead by `aheadMs` when it was written.
 * A pause keeps the time that was left of it.
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

/** The same for a lane. One that was decided before, by a clock that was right, stays as it is. */
export function correctedLane(lane: Lane, aheadMs: number, now: number): Lane {
  if (lane.decidedAt <= now + clockStepMsMin) return lane;
  const byMs = Math.max(aheadMs, lane.decidedAt - now);
  return { ...lane, dueAt: lane.dueAt - byMs, decidedAt: lane.decidedAt - byMs };
}

/**
 * The endpoint's health when an event was to be tried at `expectedAt` and is tried `now`. Beyond ten minutes
 * the time between does not count as failing: no process ran then, or Redis's clock went ahead.
 */
export function healthAfterGap(health: EndpointHealth, expectedAt: number, now: number): EndpointHealth {
  const idleMs = now - expectedAt - lateMsMax;
  if (idleMs <= 0 || health.failingSince === 0) return health;
  return { ...health, failingSince: Math.min(now, health.failingSince + idleMs) };
}
