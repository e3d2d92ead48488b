import type { EventLog, LogEntry } from '../events/event-log.ts';
import { toExpiredLetter } from './delivery-records.ts';
import type { DeadLetter } from './delivery-records.ts';
import type { DrainWindow } from './drain-window.ts';
import type { Progress } from './progress.ts';

/** Brings the log into a drain's window, entry by entry. */
export interface LogFeed {
  /** Takes in a batch that was read together with the head; entries fewer than a batch end at the head. */
  takeIn(entries: readonly LogEntry[]): void;
  /** Reads on while there is more and the window has room, though not for ever; true when it took anything in. */
  readOn(): Promise<boolean>;
  /** The position of the newest event, as far as known. */
  headIs(head: number): void;
  /** Takes what it found trimmed away since the last call: given up, to be written. */
  takeExpired(): DeadLetter[];
}

export interface LogFeedDeps {
  readonly log: EventLog;
  readonly account: string;
  readonly window: DrainWindow;
  readonly progress: Progress;
  /** Whether the subscription asks for the event. */
  readonly wants: (entry: LogEntry) => boolean;
  /** Entries read at a time. */
  readonly batch: number;
  readonly now: () => number;
}

const readsMax = 10;

/** Reads on from the progress's cursor in a log whose newest event is at `head`. */
export function createLogFeed(deps: LogFeedDeps, headAtStart: number): LogFeed {
  const { window, progress, batch } = deps;
  let head = headAtStart;
  let readTo = progress.cursor();
  let expired: DeadLetter[] = [];

  // Positions are given out without gaps: those that are not in the log any more were trimmed away.
  function expireTo(position: number): void {
    if (position <= readTo) return;
    const events = progress.markRange(readTo + 1, position);
    readTo = position;
    if (events > 0)
      expired.push(toExpiredLetter({ position, filingId: '', attempts: 0 }, events, deps.now()));
  }

  function takeIn(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      expireTo(entry.position - 1);
      readTo = entry.position;
      if (!progress.isDone(entry.position)) window.take(entry, deps.wants(entry));
    }
    if (entries.length < batch) expireTo(head);
    head = Math.max(head, readTo);
  }

  const mayRead = () => head > readTo && window.hasRoom() && !window.isPaused(deps.now());

  return {
    takeIn,
    async readOn() {
      let reads = 0;
      for (; reads < readsMax && mayRead(); reads += 1) {
        // Where to read next depends on what was read.
        // oxlint-disable-next-line no-await-in-loop
        takeIn(await deps.log.readAfter(deps.account, readTo, batch));
      }
      return reads > 0;
    },
    headIs(position) {
      head = Math.max(head, position);
    },
    takeExpired() {
      const taken = expired;
      expired = [];
      return taken;
    },
  };
}
