import { parseShaped } from '../../redis/unreadable-record.ts';
import type { FilingState } from './filing-state.ts';

/** A person's note that they have seen a rejection. */
export interface SeenMark {
  readonly by: string;
  readonly note: string | null;
  /** Milliseconds on Redis's clock. */
  readonly at: number;
}

/** A mark as it is stored: it belongs to the filing's event with this number. */
export interface StoredMark extends SeenMark {
  readonly sequence: number;
}

/** The only status in which a filing is marked as seen. */
export const seenStatus = 'REJECTED';

/** Whether a filing in this state may be marked as seen. */
export function maySee({ status, removed }: Pick<FilingState, 'status' | 'removed'>): boolean {
  return status === seenStatus && !removed;
}

/** Whether a filing in this state is rejected, and no other filing answers it. */
export function isOpenRejection(state: Pick<FilingState, 'status' | 'removed' | 'answeredBy'>): boolean {
  return maySee(state) && state.answeredBy === undefined;
}

/**
 * The mark that stands for this state; null without one, or where a later event has made the filing unseen.
 * A text that is no mark counts as none.
 */
export function markOf(text: string | null, state: FilingState): SeenMark | null {
  const stored = text === null || !maySee(state) ? null : parse(text);
  if (stored === null || stored.sequence !== state.sequence) return null;
  return { by: stored.by, note: stored.note, at: stored.at };
}

function parse(text: string): StoredMark | null {
  try {
    const stored = parseShaped<StoredMark>(text, { by: 'string', at: 'number', sequence: 'number' });
    const isNote = stored !== null && (stored.note === null || typeof stored.note === 'string');
    return isNote ? stored : null;
  } catch {
    return null;
  }
}
