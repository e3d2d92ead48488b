import { retryDelayMs } from './retry-policy.ts';

/** Events of one filing that wait behind a failed one, oldest first. The operational events share the lane ''. */
export interface Lane {
  /** Positions in the log; the first is the one that failed. */
  readonly positions: readonly number[];
  /** Failed attempts of the first position that count against its schedule. */
  readonly spent: number;
  /** All attempts of the first position so far. */
  readonly tried: number;
  /** When the first position may be tried again, milliseconds on Redis's clock. */
  readonly dueAt: number;
}

/** A lane after a failed attempt of its first position. */
export interface FailedLane {
  /** Null when nothing waits in it any more. */
  readonly lane: Lane | null;
  /** True when the first position was given up. */
  readonly exhausted: boolean;
}

/**
 * The lane after its first position failed; pure. With `spends` false (a pause, a down endpoint) the schedule is not
 * touched. When the schedule is exhausted the position is given up and the next one is due at once.
 */
export function laneAfterFailure(
  lane: Lane,
  spends: boolean,
  now: number,
  scheduleMs: readonly number[],
  random: () => number,
): FailedLane {
  const spent = lane.spent + (spends ? 1 : 0);
  const delayMs = retryDelayMs(scheduleMs, Math.max(spent, 1), random);
  if (delayMs === null) return { lane: laneAfterHead(lane, now), exhausted: true };
  return { lane: { ...lane, spent, tried: lane.tried + 1, dueAt: now + delayMs }, exhausted: false };
}

/** The lane once its first position is done with, null when that was the last; pure. */
export function laneAfterHead(lane: Lane, now: number): Lane | null {
  const positions = lane.positions.slice(1);
  return positions.length === 0 ? null : { positions, spent: 0, tried: 0, dueAt: now };
}
