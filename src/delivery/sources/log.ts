import type { EventLog, LogEntry, OutlinedEntry } from '../../events/event-log.ts';
import type { Selection } from '../../subscriptions/content-filter/selection.ts';
import type { Cursor } from '../../subscriptions/cursor.ts';
import type { Track } from '../schedule/track.ts';
import { toDeadLetter, toExpiredLetter, type DeadLetter } from '../store/delivery-records.ts';
import type { Source } from './source.ts';

/** Entries of the log in their order; a position without one up to `upTo` was trimmed. */
export interface Stretch {
  readonly entries: readonly (LogEntry | OutlinedEntry)[];
  readonly upTo: number;
}

/** The log behind a subscription's cursor. It reads nothing itself: the account reads for all of them. */
export type LogSource = ReturnType<typeof createLogSource>;

export interface LogSourceDeps {
  readonly log: Pick<EventLog, 'readAt'>;
  readonly account: string;
  readonly cursor: Cursor;
  readonly intake: Track;
  /** Whether the subscription is to get an entry. */
  readonly accepts: Selection['accepts'];
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/** The log behind a position up to which everything is done. */
export function createLogSource(deps: LogSourceDeps, position: number) {
  const { log, account, cursor, intake, accepts, now } = deps;
  let readTo = position;
  let givenUp: DeadLetter[] = [];

  // Positions have no gaps, so positions missing from the log were trimmed away.
  function expireTo(upTo: number): boolean {
    const events = cursor.markRange(readTo + 1, upTo);
    readTo = upTo;
    if (events === 0) return false;
    givenUp.push(toExpiredLetter({ position: upTo, filingId: '', attempts: 0 }, events, now()));
    return true;
  }

  function accept(entry: LogEntry | OutlinedEntry): boolean {
    const hasExpired = entry.position > readTo + 1 && expireTo(entry.position - 1);
    readTo = entry.position;
    if (cursor.isDone(entry.position)) return hasExpired;
    const wanted = accepts(entry);
    if ('body' in entry) intake.accept(entry, wanted);
    else {
      // The body that was to be sent can no longer be read.
      cursor.markDone(entry.position);
      if (wanted) givenUp.push(toDeadLetter(entry, 0, 'unreadable', now()));
    }
    return hasExpired || wanted;
  }

  return {
    /** The newest position that was taken. */
    readTo: () => readTo,
    /** Takes the entries behind `readTo` while there is room; true when anything is to be written of them. */
    take({ entries, upTo }: Stretch): boolean {
      let isNew = false;
      for (const entry of entries) {
        if (entry.position <= readTo) continue;
        if (!intake.hasRoom()) return isNew;
        isNew = accept(entry) || isNew;
      }
      return (upTo > readTo && expireTo(upTo)) || isNew;
    },
    /** Passes over all positions up to this one: nothing of them is for the subscription. */
    skipTo(upTo: number): void {
      cursor.markRange(readTo + 1, upTo);
      readTo = Math.max(readTo, upTo);
    },
    /** Removes and returns the dead letters of events that were taken and cannot be sent. */
    removeGivenUp(): DeadLetter[] {
      const removed = givenUp;
      givenUp = [];
      return removed;
    },
    make: makeFromLog(log, account),
  };
}

/** Makes events of the log: as they were read, or read again if no body was kept. */
export function makeFromLog(log: Pick<EventLog, 'readAt'>, account: string): Source['make'] {
  return async ({ entry, position }) => {
    const found = entry ?? (await log.readAt(account, [position])).entries[0];
    return found === undefined ? { kind: 'expired' } : { kind: 'made', entry: found };
  };
}
