import type { LogEntry } from '../../events/event-log.ts';

/** An event that has not been tried yet. */
export interface Untried {
  readonly position: number;
  readonly filingId: string;
  /** Null when its body was not kept: it has to be read from the log again. */
  readonly entry: LogEntry | null;
}

/**
 * Events read from the log and not sent yet. At most one of a filing is ready; the others wait behind it, or
 * behind the one that is in flight, in the order of the log.
 */
export interface FirstTries {
  /** `busy` tells that an event of its filing is in flight. */
  add(entry: LogEntry, busy: boolean): void;
  /**
   * The oldest that is ready and whose filing is not busy, from now on in flight; null when there is none.
   */
  take(isBusy: (filingId: string) => boolean): Untried | null;
  /** Gives up the positions behind the filing's event in flight: they are waited for elsewhere. */
  leaveFollowers(filingId: string): number[];
  /** The filing's event in flight is settled: the next one gets ready. */
  free(filingId: string): void;
  ready(): number;
  /** Bytes of the bodies of those that are ready. */
  readyBytes(): number;
  followers(): number;
}

// Bytes of bodies kept of events that wait behind others of their filing; beyond that a busy filing costs a
// number per event.
const keptBytesMax = 1024 * 1024;

/** No events yet. */
export function createFirstTries(): FirstTries {
  const ready: Untried[] = [];
  const inReady = new Set<string>();
  const behind = new Map<string, Untried[]>();
  let followers = 0;
  let keptBytes = 0;
  let readyBytes = 0;

  function forget({ entry }: Untried): void {
    followers -= 1;
    keptBytes -= entry?.bytes ?? 0;
  }

  function addBehind(entry: LogEntry): void {
    const { position, filingId } = entry;
    const keep = keptBytes + entry.bytes <= keptBytesMax;
    if (keep) keptBytes += entry.bytes;
    followers += 1;
    const queue = behind.get(filingId);
    const waiting: Untried = { position, filingId, entry: keep ? entry : null };
    if (queue === undefined) behind.set(filingId, [waiting]);
    else queue.push(waiting);
  }

  return {
    add(entry, busy) {
      const { position, filingId } = entry;
      if (busy || inReady.has(filingId) || behind.has(filingId)) return addBehind(entry);
      ready.push({ position, filingId, entry });
      readyBytes += entry.bytes;
      inReady.add(filingId);
    },
    take(isBusy) {
      const index = ready.findIndex(({ filingId }) => !isBusy(filingId));
      const [first] = index < 0 ? [] : ready.splice(index, 1);
      if (first === undefined) return null;
      inReady.delete(first.filingId);
      readyBytes -= first.entry?.bytes ?? 0;
      return first;
    },
    leaveFollowers(filingId) {
      const queue = behind.get(filingId) ?? [];
      behind.delete(filingId);
      for (const each of queue) forget(each);
      return queue.map(({ position }) => position);
    },
    free(filingId) {
      const queue = behind.get(filingId);
      if (queue === undefined || inReady.has(filingId)) return;
      const first = queue.shift();
      if (queue.length === 0) behind.delete(filingId);
      if (first === undefined) return;
      forget(first);
      ready.unshift(first);
      readyBytes += first.entry?.bytes ?? 0;
      inReady.add(filingId);
    },
    ready: () => ready.length,
    readyBytes: () => readyBytes,
    followers: () => followers,
  };
}
