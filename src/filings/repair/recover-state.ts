import type { OutlinedEntry } from '../../events/event-log.ts';
import { isSettled } from '../../partner/filing-statuses.ts';
import type { FilingState } from '../detection/filing-state.ts';

/** The store's remaining records of a filing whose state cannot be read. */
export interface Evidence {
  /** The filing's newest event in the log, with its body as parsed; null where there is none. */
  readonly newest: {
    readonly entry: Pick<OutlinedEntry, 'type' | 'recordedAt'>;
    readonly body: unknown;
  } | null;
  /**
   * The status under which the index has the filing; null where it has not: COMPLETED filings and removed
   * ones are in no index.
   */
  readonly indexed: string | null;
  /**
   * Maximum number of events that the filing can have had so far: all that were trimmed from the account's
   * log, and its own that are still in it.
   */
  readonly eventsMax: number;
}

/**
 * The state of a filing, recovered from the store. The newest event of a filing holds all of it. Without that
 * event, the status comes from the index, and the sequence is one that the filing cannot have reached. A
 * COMPLETED or REJECTED filing then gets one more event with its next read, because receivers may not have
 * got its present status.
 */
export function recoverState({ newest, indexed, eventsMax }: Evidence): FilingState {
  const shown = newest === null ? null : stateOfEvent(newest);
  if (shown !== null) return shown;
  const status = indexed ?? 'COMPLETED';
  const known = { status, completedAt: null, rejectionReason: null, sequence: eventsMax };
  const times = { since: 0, readFrom: 0, readAt: 0 };
  const isInDoubt = newest !== null || isSettled(status);
  return { ...known, ...times, removed: false, ...(isInDoubt ? { restate: true } : {}) };
}

function stateOfEvent({ entry, body }: NonNullable<Evidence['newest']>): FilingState | null {
  const { data } = (body ?? {}) as { data?: Partial<Record<string, unknown>> };
  if (typeof data?.['status'] !== 'string' || typeof data['sequence'] !== 'number') return null;
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : null);
  return {
    status: data['status'],
    completedAt: text('completedAt'),
    rejectionReason: text('rejectionReason'),
    sequence: data['sequence'],
    since: entry.recordedAt,
    readFrom: 0,
    readAt: 0,
    removed: entry.type === 'filing.removed',
  };
}
