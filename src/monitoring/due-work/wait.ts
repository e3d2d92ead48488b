import type { OwnWork } from './tally.ts';

/** What one look shows of a queue, by all processes together. */
export interface QueueLook {
  /** Changes whenever some process takes work of it, or is busy with it. */
  readonly taken: number;
  /**
   * Whether it holds work that is due: waiting, delayed until a moment that has passed, or given to a worker
   * that is gone.
   */
  readonly due: boolean;
  /** Jobs that wait for a worker. */
  readonly waiting: number;
  /** Somebody has stopped it on purpose. */
  readonly paused: boolean;
}

/** How long a queue's work has waited, as the looks so far show it; milliseconds on the monotonic clock. */
export interface Wait {
  readonly at: number;
  readonly taken: number;
  /** How often some work has to come at least; null = only when the queue says so. */
  readonly everyMs: number | null;
  /** Since when nothing was taken. */
  readonly idleSince: number;
  /** Since when there is work that is due and nothing was taken; null = nothing is. */
  readonly dueSince: number | null;
}

// Milliseconds between two looks after which nothing is concluded from both: the process, or its machine,
// stood still.
const gapMsMax = 10_000;
// Milliseconds that due work may wait at least: a killed process's jobs are taken up after 9 s, polls that
// ceased to come after 13 s.
const marginMs = 30_000;
// Milliseconds of an interval, or in place of one, that are added to it.
const intervalMsMax = 30_000;
// Milliseconds after which a process that is not ready for it is to be started again.
const restartAfterMs = 5 * 60_000;

/**
 * The wait after one more look; pure. It begins anew when something is taken, when the interval changes,
 * while the queue is paused, and when nothing can be concluded: without a look before, or after looks that
 * failed or came late.
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
 * Whether the last look is new enough for what it showed to be still so: Redis answers, and the process did
 * not stand still. Pure.
 */
export function isCurrent(wait: Wait, at: number): boolean {
  return at - wait.at <= gapMsMax;
}

/** Milliseconds that due work had waited at the last look, without any being taken; 0 = none waits. Pure. */
export function waitedMs({ at, everyMs, idleSince, dueSince }: Wait): number {
  const overdue = everyMs === null ? 0 : at - idleSince - everyMs;
  return Math.max(0, overdue, dueSince === null ? 0 : at - dueSince);
}

/**
 * Milliseconds that due work may wait before the daemon is not ready: an interval, at most half a minute, and
 * half a minute more. Pure.
 */
export function patienceMs(everyMs: number | null): number {
  return Math.min(everyMs ?? intervalMsMax, intervalMsMax) + marginMs;
}

/** Why nothing is taken, as far as a process can know. */
export type WaitCause = 'connection' | 'lease' | 'hanging' | 'worker';

/** The cause, from what this process did while the work waited; pure. */
export function causeOf(own: OwnWork, skipped: number, isConnected: boolean): WaitCause {
  if (!isConnected) return 'connection';
  if (own.hangs) return 'hanging';
  return skipped > 0 ? 'lease' : 'worker';
}

/** Whether due work has waited for longer than that; pure. */
export function waitsTooLong(wait: Wait): boolean {
  return waitedMs(wait) > patienceMs(wait.everyMs);
}

/**
 * Whether starting this process again may help: it could have taken the work for minutes, and nobody else is
 * in its way. Pure.
 */
export function needsRestart(wait: Wait, cause: WaitCause): boolean {
  return cause !== 'lease' && waitedMs(wait) > patienceMs(wait.everyMs) + restartAfterMs;
}
