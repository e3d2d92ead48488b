import { parseShaped } from '../../redis/unreadable-record.ts';
import { nextAttemptMs } from './retry-schedule.ts';

/**
 * Events of one filing that wait behind a failed one, oldest first. The operational events share the lane ''.
 */
export interface Lane {
  /** Positions in the log; the first is the one that failed. */
  readonly positions: readonly number[];
  /** Failed attempts of the first position that count against its schedule. */
  readonly spent: number;
  /** All attempts of the first position so far. */
  readonly tried: number;
  /** When the first position may be tried again, milliseconds on Redis's clock. */
  readonly dueAt: number;
  /**
   * Whether the endpoint is known to have worked between two failed attempts of the first position: then
   * these are the event's own fault, and no recovery of the endpoint is a reason to try it earlier.
   */
  readonly proven?: boolean;
  /** When `dueAt` was decided; a release of the whole subscription after that makes the lane due at once. */
  readonly decidedAt: number;
}

/** A lane from its JSON; null where it is none. Throws where it is not even JSON. */
export function parseLane(text: string): Lane | null {
  const lane = parseShaped<Lane>(text, {
    positions: 'object',
    spent: 'number',
    tried: 'number',
    dueAt: 'number',
    decidedAt: 'number',
  });
  const isLane = lane !== null && Array.isArray(lane.positions) && lane.positions.every(Number.isSafeInteger);
  return isLane && lane.positions.length > 0 ? lane : null;
}

/** A lane after a failed attempt that counts. */
export interface FailedLane {
  /** Null when nothing waits in it any more. */
  readonly lane: Lane | null;
  /** True when the first position was given up. */
  readonly exhausted: boolean;
}

/** A lane of events none of which has been tried; pure. */
export function newLane(positions: readonly number[], now: number): Lane {
  return { positions, spent: 0, tried: 0, dueAt: now, decidedAt: now };
}

/**
 * The lane after a failed attempt of its first position that is charged to the schedule; pure. When the
 * schedule is exhausted the position is given up and the next one is due at once.
 */
export function laneAfterFailure(
  lane: Lane,
  now: number,
  scheduleMs: readonly number[],
  random: () => number,
): FailedLane {
  const spent = lane.spent + 1;
  const delayMs = nextAttemptMs(scheduleMs, spent, random);
  if (delayMs === null) return { lane: laneAfterHead(lane, now), exhausted: true };
  return { lane: { ...laneKept(lane, now, now + delayMs), spent }, exhausted: false };
}

/**
 * The lane after an attempt that is not the event's fault (a down or busy endpoint) and costs it nothing;
 * pure.
 */
export function laneKept(lane: Lane, now: number, dueAt: number): Lane {
  return { ...lane, tried: lane.tried + 1, dueAt, decidedAt: now };
}

/**
 * The lane once the endpoint is found to work again, due at once; pure. What it spent while that was in doubt
 * comes back to it, unless its event is proven to be at fault.
 */
export function laneReleased(lane: Lane, now: number): Lane {
  return { ...lane, spent: lane.proven === true ? lane.spent : 0, dueAt: Math.min(lane.dueAt, now) };
}

/**
 * Whether failing now proves the event to be at fault; pure. `workedAt` is when the newest callback that the
 * endpoint accepted was sent, milliseconds.
 */
export function isProven(lane: Lane | undefined, workedAt: number): boolean {
  return lane !== undefined && (lane.proven === true || (lane.tried > 0 && workedAt > lane.decidedAt));
}

/** The lane once its first position is done with, null when that was the last; pure. */
export function laneAfterHead(lane: Lane, now: number): Lane | null {
  return lane.positions.length > 1 ? newLane(lane.positions.slice(1), now) : null;
}
