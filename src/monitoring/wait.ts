import type { OwnWork } from './work-tally.ts';

/** The state of a queue at one look, for all processes together. */
export interface QueueLook {
  /** Changes whenever a process takes work from the queue or is busy with it. */
  readonly taken: number;
  /**
   * Whether the queue holds due work: waiting, delayed until a time that has passed, or held by a worker that
   * is gone.
   */
  readonly due: boolean;
  /** Jobs that wait for a worker. */
  readonly waiting: number;
  /** The operator has paused the queue. */
  readonly paused: boolean;
}

/** The time that a queue's work has waited, from the looks so far; milliseconds on the monotonic clock. */
export interface Wait {
  readonly at: number;
  readonly taken: number;
  /** Maximum time between two jobs, or null if work is expected only while the queue holds some. */
  readonly everyMs: number | null;
  /** The time since which nothing was taken. */
  readonly idleSince: number;
  /** The time since which work has been due and none was taken, or null if none is due. */
  readonly dueSince: number | null;
}

// Maximum milliseconds between two looks for a conclusion; after more, the process or its machine stood
// still.
const gapMsMax = 10_000;
// Milliseconds that due work may wait in any case: the jobs of a killed process are taken up after 9 s, polls
// that stopped after 13 s.
const marginMs = 30_000;
// Maximum milliseconds added for the interval, and the value used if there is no interval.
const intervalMsMax = 30_000;
// Further milliseconds of waiting, after the daemon is not ready, before the process needs a restart.
const restartAfterMs = 5 * 60_000;

/**
 * The wait after one more look; pure. It restarts when work is taken, when the interval changes, and while
 * the queue is paused. It also restarts without a former look, and after looks that failed or were late.
 */
export function nextWait(before: Wait | null, look: QueueLook, everyMs: number | null, at: number): Wait {
  const isAnew =
    before === null ||
    look.paused ||
    !isCurrent(before, at) ||
    before.taken !== look.taken ||
    before.everyMs !== everyMs;
  const dueSince = isAnew ? at : (before.dueSince ?? at);
  return {
    at,
    taken: look.taken,
    everyMs,
    idleSince: isAnew ? at : before.idleSince,
    dueSince: look.due ? dueSince : null,
  };
}

/**
 * Whether the last look is recent enough to be still true: Redis answers, and the process did not stand
 * still. Pure.
 */
export function isCurrent(wait: Wait, at: number): boolean {
  return at - wait.at <= gapMsMax;
}

/** Milliseconds that due work had waited untaken at the last look; 0 when none waits. Pure. */
export function waitedMs({ at, everyMs, idleSince, dueSince }: Wait): number {
  const overdue = everyMs === null ? 0 : at - idleSince - everyMs;
  return Math.max(0, overdue, dueSince === null ? 0 : at - dueSince);
}

/**
 * Milliseconds that due work may wait before the daemon is not ready: half a minute plus the interval, which
 * counts up to half a minute. Pure.
 */
export function patienceMs(everyMs: number | null): number {
  return Math.min(everyMs ?? intervalMsMax, intervalMsMax) + marginMs;
}

/** The reason why nothing is taken, as far as one process can know. */
export type WaitCause = 'connection' | 'lease' | 'hanging' | 'worker';

/** The cause, from the work of this process during the wait; pure. */
export function causeOf(own: OwnWork, skipped: number, isConnected: boolean): WaitCause {
  if (!isConnected) return 'connection';
  if (own.hangs) return 'hanging';
  return skipped > 0 ? 'lease' : 'worker';
}

/** Whether due work has waited for longer than `patienceMs`; pure. */
export function waitsTooLong(wait: Wait): boolean {
  return waitedMs(wait) > patienceMs(wait.everyMs);
}

/**
 * Whether a restart of this process may help: it could have taken the work for minutes, and no other process
 * holds the lease. Pure.
 */
export function needsRestart(wait: Wait, cause: WaitCause): boolean {
  return cause !== 'lease' && waitedMs(wait) > patienceMs(wait.everyMs) + restartAfterMs;
}
