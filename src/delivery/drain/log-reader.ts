import type { EventLog, LogEntry, LogRead, OutlinedEntry } from '../../events/event-log.ts';
import { mayFollow, type Checkpoint } from '../../events/timeline.ts';
import type { Cursor } from '../../subscriptions/cursor.ts';
import type { Selectable } from '../../subscriptions/content-filter/selection.ts';
import type { SendScheduler } from '../schedule/scheduler.ts';
import { toExpiredLetter, toUnreadableLetter, type DeadLetter } from '../store/delivery-records.ts';

/** A stretch of the log, and the newest event as it was known before reading. */
export interface LogStretch extends LogRead {
  readonly head: Checkpoint;
}

/** Brings the log into a drain's scheduler, entry by entry. */
export interface LogReader {
  /** Whether there is more to read and the scheduler has room for it. */
  mayRead(): boolean;
  /** Reads the next stretch, without accepting it. */
  read(): Promise<LogStretch>;
  /**
   * Whether the last known head of the log covers all of a stretch, on the timeline of the accepted events.
   */
  isKnown(stretch: LogStretch): boolean;
  /**
   * Accepts a stretch. Redis must not have been set back since before it was read: a settle or a look
   * afterwards finds that out.
   */
  accept(stretch: LogStretch): void;
  /** The newest event that was accepted or found trimmed away. */
  known(): Checkpoint;
  /** Whether all events of the log up to a position were read. */
  hasRead(position: number): boolean;
  /** The newest event in the log when `known` was last found in it; null when it was not yet. */
  foundAt(): Checkpoint | null;
  /** Takes note of the newest event in the log, which contains all accepted events. */
  headIs(head: Checkpoint): void;
  /** The timeline at a position; null when it was not accepted. The positions before it are forgotten. */
  timelineAt(position: number): string | null;
  /** Removes and returns the events found trimmed away or unreadable: given up, to be written. */
  removeGivenUp(): DeadLetter[];
}

export interface LogReaderDeps {
  readonly log: EventLog;
  readonly account: string;
  readonly scheduler: SendScheduler;
  readonly cursor: Cursor;
  /** Whether the subscription asks for the event. */
  readonly wants: (entry: Selectable) => boolean;
  /** Number of entries read at a time. */
  readonly batch: number;
  /** Whether other subscriptions of the account are drained now: they read the same entries. */
  readonly othersRead: () => boolean;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/**
 * Number of entries that a drain reads at a time, by the maximum of its callbacks in flight.
 * It does not follow the window: drains that read the same stretch of the log share it.
 */
export function entriesAtOnce(maxInFlight: number): number {
  return Math.min(4 * maxInFlight, 40);
}

/** Reads on from where a subscription's cursor starts. */
export function createLogReader(deps: LogReaderDeps, start: Checkpoint): LogReader {
  const { scheduler, cursor, batch } = deps;
  let head = start;
  let known = start;
  let found = start;
  let givenUp: DeadLetter[] = [];
  // The checkpoints accepted, from the cursor on.
  const trail = [start];

  // Keeps the checkpoint and not the entry: a filing in flight for long would keep the bodies of all later
  // events in memory.
  function knowTo({ position, timeline }: Checkpoint): void {
    known = { position, timeline };
    trail.push(known);
  }

  // Positions have no gaps, so positions missing from the log were trimmed away.
  function expireTo({ position, timeline }: Checkpoint): void {
    if (position <= known.position) return;
    const events = cursor.markRange(known.position + 1, position);
    knowTo({ position, timeline });
    if (events > 0)
      givenUp.push(toExpiredLetter({ position, filingId: '', attempts: 0 }, events, deps.now()));
  }

  function acceptEntry(entry: LogEntry | OutlinedEntry): void {
    const { position } = entry;
    if (position > known.position + 1) expireTo({ position: position - 1, timeline: '' });
    knowTo(entry);
    if (cursor.isDone(position)) return;
    const wanted = deps.wants(entry);
    if ('body' in entry) return scheduler.live.accept(entry, wanted);
    // The body that was to be sent can no longer be read.
    cursor.markDone(position);
    if (wanted) givenUp.push(toUnreadableLetter(entry, deps.now()));
  }

  return {
    mayRead: () =>
      head.position > known.position && scheduler.live.hasRoom() && !scheduler.isPaused(deps.now()),
    async read() {
      const before = head;
      const read = await deps.log.readAfter(deps.account, known, batch, deps.othersRead());
      return { ...read, head: before };
    },
    isKnown({ entries, lost, head: before }) {
      const [first, last] = [entries[0], entries.at(-1)];
      if (lost !== undefined) return false;
      if (first === undefined || last === undefined) return false;
      return last.position <= before.position && mayFollow(known, first);
    },
    accept({ entries, lost, more, head: before }) {
      for (const entry of lost === undefined ? entries : inOrder(entries, lost)) acceptEntry(entry);
      if (!more) expireTo(before);
    },
    known: () => known,
    hasRead: (position) => position <= known.position || head.position <= known.position,
    foundAt: () => (found === known ? head : null),
    headIs(newest) {
      head = newest;
      found = known;
    },
    timelineAt(position) {
      while ((trail[0]?.position ?? Infinity) < position) trail.shift();
      const [first] = trail;
      return first?.position === position ? first.timeline : null;
    },
    removeGivenUp() {
      const removed = givenUp;
      givenUp = [];
      return removed;
    },
  };
}

function inOrder(
  entries: readonly LogEntry[],
  lost: readonly OutlinedEntry[],
): readonly (LogEntry | OutlinedEntry)[] {
  return [...entries, ...lost].toSorted((a, b) => a.position - b.position);
}
