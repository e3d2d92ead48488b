import type { LogEntry } from './event-log.ts';

/** Reads a stretch of the log, or takes what somebody else has just read. */
export type RecentReads = (
  key: string,
  /** Entries asked for. A stretch of fewer ends at the log's head and is never taken from somebody else. */
  count: number,
  read: () => Promise<LogEntry[]>,
) => Promise<LogEntry[]>;

export interface RecentReadsDeps {
  /** Connections lost so far: what was read before one was lost is not taken for true, for Redis may have been set back since. */
  readonly losses: () => number;
  /** Milliseconds. */
  readonly now: () => number;
}

interface Stretch {
  readonly entries: Promise<LogEntry[]>;
  readonly lossesBefore: number;
  readonly readAt: number;
}

const keptMs = 1_000;
const stretchesMax = 32;

/**
 * Remembers for a second what was read last: subscriptions that work through the same log, as they do after each burst of
 * events, would otherwise all read and decode it. Entries must not be changed by those who get them.
 */
export function createRecentReads({ losses, now }: RecentReadsDeps): RecentReads {
  const recent = new Map<string, Stretch>();

  function remember(key: string, stretch: Stretch): void {
    recent.delete(key);
    recent.set(key, stretch);
    const [oldest] = recent.keys();
    if (recent.size > stretchesMax && oldest !== undefined) recent.delete(oldest);
  }

  return async (key, count, read) => {
    const known = recent.get(key);
    if (known?.lossesBefore === losses() && now() - known.readAt < keptMs) {
      const entries = await known.entries.catch(() => []);
      if (entries.length === count && known.lossesBefore === losses()) return entries;
    }
    const stretch = { lossesBefore: losses(), readAt: now(), entries: read() };
    remember(key, stretch);
    return stretch.entries;
  };
}
