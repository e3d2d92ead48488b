import type { LogEntry } from '../../events/event-log.ts';
import { matchesType } from '../../subscriptions/matches-event.ts';

/** Selects the events to deliver again; null does not restrict. Times are milliseconds on Redis's clock. */
export interface ReplayRequest {
  /** Recorded at this time or later. */
  readonly after: number | null;
  /** Recorded earlier than this time. */
  readonly before: number | null;
  /** Exact types or `prefix.*`. */
  readonly eventTypes: readonly string[] | null;
  readonly filingId: string | null;
  readonly deadLettersOnly: boolean;
  /** Only the events with these ids; missing for all. */
  readonly eventIds?: readonly string[];
}

/** The request without conditions. */
export const requestOfAll: ReplayRequest = {
  after: null,
  before: null,
  eventTypes: null,
  filingId: null,
  deadLettersOnly: false,
};

/** A replay as it was requested; written once. */
export interface Replay {
  readonly id: string;
  /** Filings as they are (a snapshot); left out where it sends events of the log. */
  readonly source?: 'filings';
  readonly request: ReplayRequest;
  /** Milliseconds on Redis's clock. */
  readonly createdAt: number;
  /** Number of events to be delivered again. */
  readonly matched: number;
  /** First position of the log that it may deliver. */
  readonly first: number;
  /** Last such position. Later events are still on their way to the subscription anyway. */
  readonly last: number;
  /**
   * The positions themselves, in order, if an index knows them; null means all from `first` to `last` that
   * match.
   */
  readonly positions: readonly number[] | null;
  /**
   * Ids of the dead letters at those positions, for a replay of dead letters: they leave the list when their
   * events are delivered. Null for other replays.
   */
  readonly letters: readonly string[] | null;
  /**
   * Dead letters among the events of another replay, which leave the list likewise; missing if there are
   * none.
   */
  readonly lettersAmong?: LettersAmong;
}

/** Dead letters of some events: the positions in order, and the id of the letter at each. */
export interface LettersAmong {
  readonly positions: readonly number[];
  readonly letters: readonly string[];
  /**
   * Id of the newest letter of the list when they were looked for: later ones are those of events that waited
   * then.
   */
  readonly newest?: string;
}

/**
 * The progress of a replay. Its size does not depend on the number of events, because the lanes are stored
 * apart.
 */
export interface ReplayState {
  readonly cursor: number;
  /** Positions done beyond the cursor, as `Cursor` writes them. */
  readonly done: string;
  readonly delivered: number;
  readonly failed: number;
  readonly finished: boolean;
  /** True when it was finished by request, before all of its events were sent. */
  readonly cancelled?: boolean;
  /**
   * Milliseconds on Redis's clock until which no lane of the replay is due, unless everything was made due
   * since `releasedAt`; 0 when that is not known.
   */
  readonly restsUntil: number;
  readonly releasedAt: number;
  /** How far a snapshot is; missing before its first filing, and in replays of the log. */
  readonly snapshot?: SnapshotProgress;
}

/** How far the scan of a snapshot is. */
export interface SnapshotProgress {
  /** Null at the end of the scan; else a place in it, and the server that named the place. */
  readonly next: { readonly at: string; readonly server: string } | null;
  /** Number of filings that were scanned. */
  readonly scanned: number;
  /** The filings behind the cursor that were scanned, '' for those that are done. */
  readonly ids: readonly string[];
}

/** Where a replay stands before its first event. */
export function newReplayState({
  source,
  first,
  last,
}: Pick<Replay, 'source' | 'first' | 'last'>): ReplayState {
  const nothingDone = { cursor: first - 1, done: '', delivered: 0, failed: 0 };
  const isEmpty = source !== 'filings' && last < first;
  return { ...nothingDone, finished: isEmpty, restsUntil: 0, releasedAt: 0 };
}

/**
 * Whether a replay has nothing to do now and its lanes need not be read; pure. `releasedAt` is the
 * subscription's.
 */
export function isAtRest(
  state: Pick<ReplayState, 'restsUntil' | 'releasedAt'>,
  releasedAt: number,
  now: number,
): boolean {
  return now < state.restsUntil && state.releasedAt === releasedAt;
}

/** Whether a request selects an event of the log, whatever the subscription itself asks for; pure. */
export function isAskedFor(
  request: ReplayRequest,
  entry: Pick<LogEntry, 'type' | 'filingId' | 'recordedAt'> & { readonly id?: string },
): boolean {
  const { after, before, eventTypes, filingId, eventIds } = request;
  if (eventIds !== undefined && (entry.id === undefined || !eventIds.includes(entry.id))) return false;
  if (after !== null && entry.recordedAt < after) return false;
  if (before !== null && entry.recordedAt >= before) return false;
  if (filingId !== null && entry.filingId !== filingId) return false;
  return eventTypes === null || eventTypes.some((pattern) => matchesType(pattern, entry.type));
}

/** The same text for all replays that would send the same; pure. */
export function replayText({ source, request }: Pick<Replay, 'source' | 'request'>): string {
  return source ?? requestText(request);
}

/** The same text for all ways to write the same request; pure. */
export function requestText(request: ReplayRequest): string {
  const { after, before, eventTypes, filingId, deadLettersOnly, eventIds } = request;
  const types = eventTypes === null ? null : [...new Set(eventTypes)].toSorted();
  const ids = eventIds === undefined ? [] : [[...new Set(eventIds)].toSorted()];
  return JSON.stringify([after, before, types, filingId, deadLettersOnly, ...ids]);
}
