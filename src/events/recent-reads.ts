import { type Checkpoint, type LogRead, mayFollow } from './timeline.ts';

/** Reads a stretch of an account's log after a checkpoint, or reuses what another reader has just read. */
export type RecentReads = (
  account: string,
  after: Checkpoint,
  /** Entries asked for. */
  count: number,
  read: () => Promise<LogRead>,
) => Promise<LogRead>;

interface Stretch {
  readonly read: Promise<LogRead>;
  readonly readAt: number;
  readonly timer: NodeJS.Timeout;
  /** Bytes of its bodies; 0 while it is being read. */
  bytes: number;
}

// Milliseconds for which a stretch is kept.
const keptMs = 1_000;
// Maximum stretches, and bytes of their bodies, that are kept.
const stretchesMax = 32;
const bytesMax = 8 * 1024 * 1024;

/**
 * Remembers the latest reads for a second, because the subscriptions of an account read the same stretches
 * after each burst of events and would otherwise all decode them. A stretch that reached the end of the log
 * is read anew. So is one that does not follow from the caller's checkpoint: Redis was set back between the
 * two. Up to 32 stretches and 8 MiB of bodies are kept. Callers share the entries and must not change them.
 */
export function createRecentReads(now: () => number): RecentReads {
  const recent = new Map<string, Stretch>();
  let bytes = 0;

  function forget(key: string): void {
    const stretch = recent.get(key);
    if (stretch === undefined) return;
    clearTimeout(stretch.timer);
    recent.delete(key);
    bytes -= stretch.bytes;
  }

  function makeRoom(): void {
    for (const oldest of recent.keys()) {
      if (recent.size <= stretchesMax && bytes <= bytesMax) return;
      forget(oldest);
    }
  }

  function remember(key: string, read: Promise<LogRead>): void {
    forget(key);
    const timer = setTimeout(forget, keptMs, key).unref();
    const stretch: Stretch = { read, readAt: now(), timer, bytes: 0 };
    recent.set(key, stretch);
    makeRoom();
    read.then(({ entries }) => {
      if (recent.get(key) !== stretch) return;
      for (const entry of entries) stretch.bytes += entry.bytes;
      bytes += stretch.bytes;
      makeRoom();
    }, ignore);
  }

  return async (account, after, count, read) => {
    const key = `${account} ${after.position} ${count}`;
    const known = recent.get(key);
    if (known !== undefined && now() - known.readAt < keptMs) {
      const stretch = await known.read.catch(() => null);
      if (stretch?.more === true && follows(after, stretch)) return stretch;
    }
    const reading = read();
    remember(key, reading);
    return reading;
  };
}

// Its reader gets the error.
function ignore(): void {}

function follows(after: Checkpoint, { entries: [first] }: LogRead): boolean {
  return first === undefined || mayFollow(after, first);
}
