import type { LogEntry } from '../../events/event-log.ts';
import { matchesType } from '../../subscriptions/matches-event.ts';

/** Which events to deliver again; null leaves that side open. Times are milliseconds on Redis's clock. */
export interface ReplayRequest {
  /** Recorded at this time or later. */
  readonly after: number | null;
  /** Recorded earlier than this time. */
  readonly before: number | null;
  /** Exact types or `prefix.*`. */
  readonly eventTypes: readonly string[] | null;
  readonly filingId: string | null;
  readonly deadLettersOnly: boolean;
}

/** A replay as it was asked for; written once. */
export interface Replay {
  readonly id: string;
  readonly request: ReplayRequest;
  /** Milliseconds on Redis's clock. */
  readonly createdAt: number;
  /** How many events are to be delivered again. */
  readonly matched: number;
  /** It works on positions of the log from here … */
  readonly first: number;
  /** … up to here, both included. Later events are still on their way to the subscription anyway. */
  readonly last: number;
  /**
   * The positions themselves, in order, where an index knows them; null: all from `first` to `last` that
   * match.
   */
  readonly positions: readonly number[] | null;
  /**
   * Ids of the dead letters at those positions, which leave the list when their event is delivered; null for
   * other replays.
   */
  readonly letters: readonly string[] | null;
}

/**
 * How far a replay has got, of a size that does not depend on how much it replays: its lanes are kept beside
 * it.
 */
export interface ReplayState {
  readonly cursor: number;
  /** Positions done beyond the cursor, as `Cursor` writes them. */
  readonly done: string;
  readonly delivered: number;
  readonly failed: number;
  readonly finished: boolean;
  /**
   * Until when nothing of it is to be done, milliseconds on Redis's clock, if the subscription was not
   * released since `releasedAt`; 0 when that is not known.
   */
  readonly restsUntil: number;
  readonly releasedAt: number;
}

/** Where a replay stands before its first event. */
export function newReplayState({ first, last }: Pick<Replay, 'first' | 'last'>): ReplayState {
  const nothingDone = { cursor: first - 1, done: '', delivered: 0, failed: 0 };
  return { ...nothingDone, finished: last < first, restsUntil: 0, releasedAt: 0 };
}

/**
 * Whether a replay has nothing to do now, so that its lanes need not be read; pure. `releasedAt` is the
 * subscription's.
 */
export function isAtRest(
  state: Pick<ReplayState, 'restsUntil' | 'releasedAt'>,
  releasedAt: number,
  now: number,
): boolean {
  return now < state.restsUntil && state.releasedAt === releasedAt;
}

/**
 * Whether an event of the log is asked for; pure. What the subscription itself asks for is another question.
 */
export function isAskedFor(
  request: ReplayRequest,
  entry: Pick<LogEntry, 'type' | 'filingId' | 'recordedAt'>,
): boolean {
  const { after, before, eventTypes, filingId } = request;
  if (after !== null && entry.recordedAt < after) return false;
  if (before !== null && entry.recordedAt >= before) return false;
  if (filingId !== null && entry.filingId !== filingId) return false;
  return eventTypes === null || eventTypes.some((pattern) => matchesType(pattern, entry.type));
}

/** One text for all ways to write the same request; pure. */
export function requestText({ after, before, eventTypes, filingId, deadLettersOnly }: ReplayRequest): string {
  const types = eventTypes === null ? null : [...new Set(eventTypes)].toSorted();
  return JSON.stringify([after, before, types, filingId, deadLettersOnly]);
}
