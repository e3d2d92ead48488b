import type { LogRead } from './event-log.ts';
import { mayFollow, type Checkpoint } from './timeline.ts';

/** Reads a stretch of an account's log after a checkpoint, or takes what another reader has just read. */
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
}

const keptMs = 1_000;
const stretchesMax = 32;

/**
 * Remembers for a second what was read last: subscriptions that work through the same log, as they do after each burst of events, would
 * otherwise all read and decode it. A stretch that went to the end of the log is read anew, and so is one that does not follow from the
 * asker's checkpoint: Redis was set back between the two. At most 32 stretches of a megabyte are kept. Entries must not be changed by
 * those who get them.
 */
export function createRecentReads(now: () => number): RecentReads {
  const recent = new Map<string, Stretch>();

  function forget(key: string): void {
    clearTimeout(recent.get(key)?.timer);
    recent.delete(key);
  }

  function remember(key: string, read: Promise<LogRead>): void {
    forget(key);
    recent.set(key, { read, readAt: now(), timer: setTimeout(forget, keptMs, key).unref() });
    const [oldest] = recent.keys();
    if (recent.size > stretchesMax && oldest !== undefined) forget(oldest);
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

function follows(after: Checkpoint, { entries: [first] }: LogRead): boolean {
  return first === undefined || mayFollow(after, first);
}
