import { randomBytes } from 'node:crypto';
import type { LogEntry } from '../../events/event-log.ts';
import { matchesType } from '../../subscriptions/matches-event.ts';
import type { FirstReplay } from '../../subscriptions/store/subscription-store.ts';

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
  /** Filings as they are (a snapshot); missing if it sends events of the log. */
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
}

/**
 * How far a replay is. Its size does not depend on the number of events, because the lanes are stored apart.
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

/** The state of a replay before its first event. */
export function newReplayState(replay: Pick<Replay, 'source' | 'first' | 'last'>): ReplayState {
  const { source, first, last } = replay;
  const isEmpty = source !== 'filings' && last < first;
  return { cursor: first - 1, done: '', delivered: 0, failed: 0, finished: isEmpty };
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
  if (source === undefined) return requestText(request);
  return request.filingId === null ? source : `${source} ${request.filingId}`;
}

/** The same text for all ways to write the same request; pure. */
export function requestText(request: ReplayRequest): string {
  const { after, before, eventTypes, filingId, deadLettersOnly, eventIds } = request;
  const types = eventTypes === null ? null : [...new Set(eventTypes)].toSorted();
  const ids = eventIds === undefined ? [] : [[...new Set(eventIds)].toSorted()];
  return JSON.stringify([after, before, types, filingId, deadLettersOnly, ...ids]);
}

/** A replay and its progress. */
export interface ReplayRecord {
  readonly replay: Replay;
  readonly state: ReplayState;
}

/**
 * The progress of a replay. `delivered` and `failed` need not add up to `matched`, which includes events that
 * are passed over later and, in very long logs, events that do not match.
 */
export interface ReplayProgress extends Pick<Replay, 'id' | 'request' | 'source' | 'matched' | 'createdAt'> {
  readonly state: 'running' | 'finished' | 'cancelled';
  readonly delivered: number;
  /** Given up once more. */
  readonly failed: number;
}

/** The progress of a stored replay; pure. */
export function progressOf({ replay, state }: ReplayRecord): ReplayProgress {
  const { id, request, source, matched, createdAt } = replay;
  const { delivered, failed, finished, cancelled = false } = state;
  const word = cancelled ? 'cancelled' : finished ? 'finished' : 'running';
  const progress = { id, request, state: word, matched, delivered, failed, createdAt } as const;
  return source === undefined ? progress : { ...progress, source };
}

/** The id of another replay. */
export function newReplayId(): string {
  return `rpl_${randomBytes(12).toString('hex')}`;
}

/**
 * A snapshot of an account with `known` filings, to be sent as a replay is; of one of them alone with a
 * `filingId`, whatever the subscription asks for.
 */
export function newSnapshot(known: number, now: number, filingId: string | null = null): Replay {
  return {
    id: newReplayId(),
    source: 'filings',
    request: { ...requestOfAll, filingId },
    createdAt: now,
    matched: filingId === null ? known : 1,
    // It has no positions of the log.
    first: 1,
    last: 0,
    positions: null,
  };
}

/** A snapshot as it is stored with the subscription that begins with it. */
export function firstSnapshot(known: number, now: number): FirstReplay {
  const replay = newSnapshot(known, now);
  return {
    id: replay.id,
    request: replayText(replay),
    replay: JSON.stringify(replay),
    state: JSON.stringify(newReplayState(replay)),
    filings: known,
  };
}

/** Replays kept of one subscription, finished ones included. */
export const replaysKept = 50;

/**
 * Why a replay cannot be begun. `log_too_long`: the events were not found in the newest part of the log,
 * which was searched.
 */
export type ReplayRefusal = 'no_subscription' | 'too_many' | 'unknown_events' | 'log_too_long';

/** A replay cannot be begun; `eventIds` are those that were not found. */
export class ReplayRefusedError extends Error {
  override readonly name = 'ReplayRefusedError';
  readonly reason: ReplayRefusal;
  readonly eventIds: readonly string[];

  constructor(reason: ReplayRefusal, eventIds: readonly string[] = []) {
    super(`no replay: ${reason}`);
    this.reason = reason;
    this.eventIds = eventIds;
  }
}
