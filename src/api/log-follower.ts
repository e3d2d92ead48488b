import type { EventLog, LogEntry } from '../events/event-log.ts';

/** What came next in a log. */
export interface Following {
  /** Oldest first; empty when there was nothing to be read. */
  readonly entries: readonly LogEntry[];
  /** The position to go on from. */
  readonly position: number;
}

/** An account's log as one listener follows it. Dispose it when the listener is gone. */
export interface FollowedLog extends Disposable {
  /** The entries behind a position, as soon as there are any; after `waitMs` or an abort without. Null once following has ended. */
  next(after: number, waitMs: number, signal: AbortSignal): Promise<Following | null>;
}

/** Follows logs for event streams: one look at an account's head per interval, however many listen. */
export interface LogFollower {
  /** Null when too many listen already, to this account or in all. */
  follow(account: string): FollowedLog | null;
  /** Ends every `next`, now and from now on. */
  stop(): void;
}

interface Tail {
  readonly account: string;
  followers: number;
  /** Position of the newest entry that was seen; null before the first look. */
  head: number | null;
  /** The latest entries, without a gap up to `head`. */
  recent: readonly LogEntry[];
  /** Who waits for the next look that finds something. */
  readonly waiting: Set<() => void>;
  timer: NodeJS.Timeout | undefined;
}

const recentMax = 256;
const catchUpBatch = 100;

/** A follower that looks every `followMs`, for at most so many listeners per account and in all. While Redis is away it keeps looking; listeners that are behind fail and come again. */
export function createLogFollower(
  log: EventLog,
  followMs: number,
  max: { readonly perAccount: number; readonly inAll: number },
): LogFollower {
  const tails = new Map<string, Tail>();
  let followers = 0;
  let stopped = false;

  function open(account: string): Tail {
    const tail: Tail = {
      account,
      followers: 0,
      head: null,
      recent: [],
      waiting: new Set(),
      timer: undefined,
    };
    tails.set(account, tail);
    lookSoon(tail, 0);
    return tail;
  }

  function lookSoon(tail: Tail, afterMs: number): void {
    tail.timer = setTimeout(() => {
      look(log, tail)
        .catch(() => false)
        .then((behind) => {
          if (tails.get(tail.account) === tail) lookSoon(tail, behind ? 0 : followMs);
        })
        .catch(() => undefined);
    }, afterMs);
  }

  function leave(tail: Tail): void {
    followers -= 1;
    tail.followers -= 1;
    if (tail.followers > 0) return;
    tails.delete(tail.account);
    clearTimeout(tail.timer);
  }

  async function next(
    tail: Tail,
    after: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Following | null> {
    if (!isBehind(tail, after) && !stopped) await untilChanged(tail, waitMs, signal);
    if (stopped) return null;
    return isBehind(tail, after) && !signal.aborted
      ? readBehind(log, tail, after)
      : { entries: [], position: after };
  }

  return {
    follow(account) {
      if (followers >= max.inAll) return null;
      const tail = tails.get(account) ?? open(account);
      if (tail.followers >= max.perAccount) return null;
      followers += 1;
      tail.followers += 1;
      return {
        next: (after, waitMs, signal) => next(tail, after, waitMs, signal),
        [Symbol.dispose]: () => leave(tail),
      };
    },
    stop() {
      stopped = true;
      for (const tail of tails.values()) {
        clearTimeout(tail.timer);
        wake(tail);
      }
      tails.clear();
    },
  };
}

/** Reads what has come since the last look; true when there may be more. */
async function look(log: EventLog, tail: Tail): Promise<boolean> {
  const head = await log.head(tail.account);
  const from = tail.head;
  if (from === null || head < from) {
    // The first look, or a store that was set back.
    tail.recent = [];
    tail.head = head;
  } else if (head > from) {
    const fresh = await log.readAfter(tail.account, from, recentMax);
    tail.recent = [...tail.recent, ...fresh].slice(-recentMax);
    tail.head = fresh.at(-1)?.position ?? head;
  } else return false;
  wake(tail);
  return tail.head < head;
}

function isBehind({ head }: Tail, after: number): boolean {
  return head !== null && after < head;
}

async function readBehind(log: EventLog, tail: Tail, after: number): Promise<Following> {
  const [oldest] = tail.recent;
  const isRecent = oldest !== undefined && oldest.position <= after + 1;
  const entries = isRecent
    ? tail.recent.filter(({ position }) => position > after)
    : await log.readAfter(tail.account, after, catchUpBatch);
  return { entries, position: entries.at(-1)?.position ?? tail.head ?? after };
}

function wake({ waiting }: Tail): void {
  for (const end of waiting) end();
}

// By hand: promises raced by signals made of signals cost more than all else that a listener does, and each one waits after every look.
function untilChanged({ waiting }: Tail, waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      waiting.delete(end);
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    waiting.add(end);
    const timer = setTimeout(end, waitMs);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
