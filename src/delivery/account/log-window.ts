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

// Maximum number of entries, and of bytes of their bodies.
const entriesMax = 200;
const bytesMax = 1024 * 1024;

/**
 * The newest part of an account's log, as far as some subscription has yet to take it. Empty at first, before
 * the first entry of a log.
 */
export class LogWindow {
  #head: Checkpoint = { position: 0, timeline: '' };
  #known = this.#head;
  #entries: (LogEntry | OutlinedEntry)[] = [];
  #from = 0;
  #bytes = 0;

  /** The newest position read, with its timeline if that is known. */
  known(): Checkpoint {
    return this.#known;
  }

  /** The newest event in the log. */
  head(): Checkpoint {
    return this.#head;
  }

  /** Whether the log has events beyond the newest position read. */
  hasMore(): boolean {
    return this.#head.position > this.#known.position;
  }

  headIs(newest: Checkpoint): void {
    this.#head = newest;
    if (this.#known.timeline === '' && this.#known.position === newest.position) this.#known = newest;
  }

  /** Begins behind a position. */
  beginAt(start: Checkpoint): void {
    this.#known = start;
    this.#from = start.position;
    this.#entries = [];
    this.#bytes = 0;
  }

  /** Takes the next stretch. Null if it has nothing new. */
  add(read: LogRead): NewEntries | null {
    const { more } = read;
    const found = allOf(read);
    const former = this.#known.position;
    const last = found.at(-1);
    const upTo = more ? (last?.position ?? former) : Math.max(this.#head.position, last?.position ?? 0);
    if (upTo <= former) return null;
    this.#entries.push(...found);
    for (const entry of found) this.#bytes += entry.bytes;
    const { timeline } = last?.position === upTo ? last : this.#head;
    this.#known = { position: upTo, timeline };
    return { entries: found, former, hasGap: upTo - former > found.length };
  }

  /** Whether it takes more: those behind `from` are few and small. */
  hasRoom(): boolean {
    return this.#entries.length < entriesMax && this.#bytes < bytesMax;
  }

  /** Forgotten up to this position, it is half empty. */
  middle(): number {
    let [left, bytes] = [entriesMax / 2, bytesMax / 2];
    for (const entry of this.#entries.toReversed()) {
      [left, bytes] = [left - 1, bytes - entry.bytes];
      if (left < 0 || bytes < 0) return entry.position;
    }
    return this.#from;
  }

  /** The entries behind this position are all in it. */
  from(): number {
    return this.#from;
  }

  /** Entries behind a position. */
  behind(position: number): readonly (LogEntry | OutlinedEntry)[] {
    return this.#entries.filter((entry) => entry.position > position);
  }

  /** Forgets entries up to a position. */
  trim(position: number): void {
    if (position <= this.#from) return;
    const gone = this.#entries.findIndex((entry) => entry.position > position);
    const removed = this.#entries.splice(0, gone < 0 ? this.#entries.length : gone);
    for (const entry of removed) this.#bytes -= entry.bytes;
    this.#from = position;
  }

  bytes(): number {
    return this.#bytes;
  }
}

/** The entries that were read, those whose bodies are lost among them, in their order. */
export function allOf({ entries, lost = [] }: LogRead): readonly (LogEntry | OutlinedEntry)[] {
  return lost.length === 0 ? entries : [...entries, ...lost].toSorted((a, b) => a.position - b.position);
}
