import type { EventLog, LogEntry, LogRead, OutlinedEntry } from '../../events/event-log.ts';
import type { Matchable } from '../../subscriptions/matches-event.ts';
import { mayFollow, type Checkpoint } from '../../events/timeline.ts';
import { toExpiredLetter, toUnreadableLetter } from '../store/delivery-records.ts';
import type { DeadLetter } from '../store/delivery-records.ts';
import type { DrainWindow } from '../schedule/scheduler.ts';
import type { Cursor } from '../../subscriptions/cursor.ts';

/** A stretch of the log, and the newest event as it was known before reading. */
export interface FedRead extends LogRead {
  readonly head: Checkpoint;
}

/** Brings the log into a drain's window, entry by entry. */
export interface LogFeed {
  /** There is more to read and the window has room for it. */
  mayRead(): boolean;
  /** Reads what comes next, without taking it in. */
  read(): Promise<FedRead>;
  /**
   * Whether all of a stretch was in the log when the head was last heard of, on the timeline of what was
   * taken in.
   */
  isKnown(read: FedRead): boolean;
  /**
   * Takes a stretch in. Redis must not have been set back since before it was read: a settle or a look
   * afterwards finds that out.
   */
  takeIn(read: FedRead): void;
  /** The newest event that was taken in or found trimmed away. */
  known(): Checkpoint;
  /** The newest event in the log when that was last found in it; null when it was not yet. */
  foundAt(): Checkpoint | null;
  /** The newest event in the log, which holds what was taken in. */
  headIs(head: Checkpoint): void;
  /** The timeline of a cursor; null when it was not taken in. The positions before it are forgotten. */
  timelineOf(cursor: number): string | null;
  /** Takes what it found trimmed away since the last call: given up, to be written. */
  takeExpired(): DeadLetter[];
}

export interface LogFeedDeps {
  readonly log: EventLog;
  readonly account: string;
  readonly window: DrainWindow;
  readonly cursor: Cursor;
  /** Whether the subscription asks for the event. */
  readonly wants: (entry: Matchable) => boolean;
  /** Entries read at a time. */
  readonly batch: number;
  readonly now: () => number;
}

/** Reads on from a subscription's cursor. */
export function createLogFeed(deps: LogFeedDeps, start: Checkpoint): LogFeed {
  const { window, cursor, batch } = deps;
  let head = start;
  let known = start;
  let found = start;
  let expired: DeadLetter[] = [];
  // What was taken in, from the cursor on.
  const trail = [start];

  function knowTo(checkpoint: Checkpoint): void {
    known = checkpoint;
    trail.push(checkpoint);
  }

  // Positions are given out without gaps: those that are not in the log any more were trimmed away.
  function expireTo({ position, timeline }: Checkpoint): void {
    if (position <= known.position) return;
    const events = cursor.markRange(known.position + 1, position);
    knowTo({ position, timeline });
    if (events > 0)
      expired.push(toExpiredLetter({ position, filingId: '', attempts: 0 }, events, deps.now()));
  }

  // Nobody knows what was to be sent.
  function giveUp(entry: OutlinedEntry): void {
    cursor.markRange(entry.position, entry.position);
    if (deps.wants(entry)) expired.push(toUnreadableLetter(entry, deps.now()));
  }

  return {
    mayRead: () => head.position > known.position && window.hasRoom() && !window.isPaused(deps.now()),
    async read() {
      const before = head;
      return { ...(await deps.log.readAfter(deps.account, known, batch)), head: before };
    },
    isKnown({ entries, lost, head: before }) {
      const [first, last] = [entries[0], entries.at(-1)];
      if (lost !== undefined) return false;
      if (first === undefined || last === undefined) return false;
      return last.position <= before.position && mayFollow(known, first);
    },
    takeIn({ entries, lost = [], more, head: before }) {
      for (const entry of lost.length === 0 ? entries : inOrder(entries, lost)) {
        expireTo({ position: entry.position - 1, timeline: '' });
        knowTo(entry);
        if (cursor.isDone(entry.position)) continue;
        if ('body' in entry) window.take(entry, deps.wants(entry));
        else giveUp(entry);
      }
      if (!more) expireTo(before);
    },
    known: () => known,
    foundAt: () => (found === known ? head : null),
    headIs(newest) {
      head = newest;
      found = known;
    },
    timelineOf(position) {
      while ((trail[0]?.position ?? Infinity) < position) trail.shift();
      const [first] = trail;
      return first?.position === position ? first.timeline : null;
    },
    takeExpired() {
      const taken = expired;
      expired = [];
      return taken;
    },
  };
}

function inOrder(
  entries: readonly LogEntry[],
  lost: readonly OutlinedEntry[],
): readonly (LogEntry | OutlinedEntry)[] {
  return [...entries, ...lost].toSorted((a, b) => a.position - b.position);
}
