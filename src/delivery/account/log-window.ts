import type { LogEntry, LogRead, OutlinedEntry } from '../../events/event-log.ts';
import type { Checkpoint } from '../../events/timeline.ts';

/** The entries that a stretch of the log has brought. */
export interface NewEntries {
  readonly entries: readonly (LogEntry | OutlinedEntry)[];
  /** The newest position known before. */
  readonly former: number;
  /** Whether some positions have no entry: they were trimmed. */
  readonly hasGap: boolean;
}

/** The newest part of an account's log, as far as some subscription has yet to take it. */
export interface LogWindow {
  /** The newest position read, with its timeline where that is known. */
  known(): Checkpoint;
  /** The newest event in the log. */
  head(): Checkpoint;
  headIs(head: Checkpoint): void;
  /** Begins behind a position. */
  beginAt(known: Checkpoint): void;
  /** Takes the next stretch; null when it has nothing new. */
  add(read: LogRead): NewEntries | null;
  /** Whether it takes more: those behind `from` are few and small. */
  hasRoom(): boolean;
  /** The entries behind this position are all in it. */
  from(): number;
  /** Entries behind a position. */
  behind(position: number): readonly (LogEntry | OutlinedEntry)[];
  /** Forgets entries up to a position. */
  trim(position: number): void;
  bytes(): number;
}

// Maximum number of entries, and of bytes of their bodies.
const entriesMax = 200;
const bytesMax = 1024 * 1024;

/** An empty window before the first entry of a log. */
export function createLogWindow(): LogWindow {
  let head: Checkpoint = { position: 0, timeline: '' };
  let known = head;
  let entries: (LogEntry | OutlinedEntry)[] = [];
  let from = 0;
  let bytes = 0;

  return {
    known: () => known,
    head: () => head,
    headIs(newest) {
      head = newest;
      if (known.timeline === '' && known.position === head.position) known = head;
    },
    beginAt(start) {
      known = start;
      from = start.position;
      entries = [];
      bytes = 0;
    },
    add(read) {
      const { lost, more } = read;
      const found =
        lost === undefined
          ? read.entries
          : [...read.entries, ...lost].toSorted((a, b) => a.position - b.position);
      const former = known.position;
      const last = found.at(-1);
      const upTo = more ? (last?.position ?? former) : Math.max(head.position, last?.position ?? 0);
      if (upTo <= former) return null;
      entries.push(...found);
      for (const entry of found) bytes += entry.bytes;
      const { timeline } = last?.position === upTo ? last : head;
      known = { position: upTo, timeline };
      return { entries: found, former, hasGap: upTo - former > found.length };
    },
    hasRoom: () => entries.length < entriesMax && bytes < bytesMax,
    from: () => from,
    behind: (position) => entries.filter((entry) => entry.position > position),
    trim(position) {
      if (position <= from) return;
      const kept = entries.findIndex((entry) => entry.position > position);
      const gone = kept < 0 ? entries : entries.slice(0, kept);
      for (const entry of gone) bytes -= entry.bytes;
      entries = kept < 0 ? [] : entries.slice(kept);
      from = position;
    },
    bytes: () => bytes,
  };
}
