import type { OutlinedEntry } from '../../events/event-log.ts';
import { isSettled } from '../../partner/filing-statuses.ts';
import type { FilingState } from '../detection/filing-state.ts';

/** What the store still says of a filing whose state cannot be read. */
export interface Evidence {
  /** The filing's newest event in the log, with its body as parsed; null where there is none. */
  readonly newest: {
    readonly entry: Pick<OutlinedEntry, 'type' | 'recordedAt'>;
    readonly body: unknown;
  } | null;
  /**
   * The status under which the index has it; null where it is in none: COMPLETED ones and removed ones are
   * not.
   */
  readonly indexed: string | null;
  /**
   * Maximum events that the filing can have had so far: those that were trimmed from the account's log, and
   * its own in it.
   */
  readonly eventsMax: number;
}

/**
 * The state of a filing as far as the store still knows it; pure. An event of it says all. Without one its
 * status is known from the index alone, and its sequence is one that it cannot have reached: then a COMPLETED
 * or REJECTED one is told once more with its next read, for nobody knows whether receivers have heard of it
 * as it is.
 */
export function recoverState({ newest, indexed, eventsMax }: Evidence): FilingState {
  const told = newest === null ? null : toldState(newest);
  if (told !== null) return told;
  const status = indexed ?? 'COMPLETED';
  const known = { status, completedAt: null, rejectionReason: null, sequence: eventsMax };
  const times = { since: 0, readFrom: 0, readAt: 0 };
  const isInDoubt = newest !== null || isSettled(status);
  return { ...known, ...times, removed: false, ...(isInDoubt ? { restate: true } : {}) };
}

function toldState({ entry, body }: NonNullable<Evidence['newest']>): FilingState | null {
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
