import { setImmediate as nextTurn } from 'node:timers/promises';
import { bodiesAtOnceMax, type EventLog, type LogEntry } from '../../events/event-log.ts';
import { type Checkpoint, fitting, isSameCheckpoint, mayFollow } from '../../events/timeline.ts';

/** The next events of a log. */
export interface Following {
  /** Oldest first, at most a megabyte of bodies or a single larger one; empty if there were none. */
  readonly entries: readonly LogEntry[];
  /** The position of the next read; it lies before the former one if Redis was set back. */
  readonly position: Checkpoint;
}

/** An account's log for one listener. Dispose of it when the listener is gone. */
export interface FollowedLog extends Disposable {
  /**
   * The entries after a checkpoint, as soon as there are any; none after `waitMs` or an abort. Null once
   * following has ended.
   */
  next(after: Checkpoint, waitMs: number, signal: AbortSignal): Promise<Following | null>;
}

/** Follows logs for event streams: it reads an account's head once per interval for all of its listeners. */
export interface LogFollower {
  /**
   * Null if too many listen already: with this token, to this account, or in all. The operator has no token,
   * null, and listens beside those of the account. Where all places are taken, the newest listener of the
   * account with the most ends instead, unless this account would have as many.
   */
  follow(account: string, token: string | null): FollowedLog | null;
  /** Ends every `next`, pending or later. */
  stop(): void;
}

/** Maximum number of listeners at once. */
interface ListenersMax {
  readonly perToken: number;
  /** With all tokens of an account. */
  readonly perAccount: number;
  /** To one account, those of the operator included. */
  readonly toOne: number;
  readonly inAll: number;
}

/** A listener; it is none of its account's followers any more once it has made way for another one. */
interface Follower {
  readonly token: string | null;
  /** The checkpoint at which the logs diverge if Redis was set back since the last `next`, else null. */
  partsAt: Checkpoint | null;
}

interface Tail {
  readonly account: string;
  readonly followers: Set<Follower>;
  /** The newest entry that was seen; null before the first read. */
  head: Checkpoint | null;
  /** The latest entries, without a gap up to `head`. */
  recent: readonly LogEntry[];
  /** Listeners that wait for the next read that finds something. */
  readonly waiting: Set<() => void>;
  timer: NodeJS.Timeout | undefined;
}

const recentMax = 256;
// Maximum bytes of the bodies in memory; the rendered text of the entries comes on top.
const recentBytesMax = 4 * 1024 * 1024;
const catchUpBatch = 100;
// Maximum number of listeners that are woken in one turn of the event loop.
const wokenAtOnce = 10;

/**
 * A follower that reads the head every `followMs` milliseconds, for at most `max` listeners. It continues
 * while Redis is away; listeners that are behind fail and connect again.
 *
 * It polls rather than blocks: `XREAD BLOCK` holds a connection to Redis while it waits. That would take a
 * connection for each followed account, or one whose wait is interrupted whenever an account is added. At 250
 * ms an idle account costs four small reads a second.
 */
export function createLogFollower(log: EventLog, followMs: number, max: ListenersMax): LogFollower {
  const tails = new Map<string, Tail>();
  let stopped = false;

  function open(account: string): Tail {
    const [followers, waiting] = [new Set<Follower>(), new Set<() => void>()];
    const tail: Tail = { account, followers, head: null, recent: [], waiting, timer: undefined };
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

  function makeWay(own: number): boolean {
    const largest = largestOf(tails.values());
    if (largest === null || largest.followers.size <= own + 1) return false;
    const newest = [...largest.followers].at(-1);
    if (newest === undefined) return false;
    leave(largest, newest);
    void wake(largest);
    return true;
  }

  function leave(tail: Tail, follower: Follower): void {
    if (!tail.followers.delete(follower) || tail.followers.size > 0) return;
    tails.delete(tail.account);
    clearTimeout(tail.timer);
  }

  async function next(
    tail: Tail,
    follower: Follower,
    after: Checkpoint,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Following | null> {
    const isOver = () => stopped || !tail.followers.has(follower);
    if (!isBehind(tail, after) && follower.partsAt === null && !isOver())
      await untilChanged(tail, waitMs, signal);
    if (isOver()) return null;
    const { partsAt } = follower;
    follower.partsAt = null;
    if (partsAt !== null && partsAt.position < after.position) return { entries: [], position: partsAt };
    return isBehind(tail, after) && !signal.aborted
      ? readBehind(log, tail, after)
      : { entries: [], position: after };
  }

  return {
    follow(account, token) {
      const own = [...(tails.get(account)?.followers ?? [])];
      const ofTokens = own.filter((one) => one.token !== null);
      const ofToken = ofTokens.filter((one) => one.token === token);
      if (token !== null && (ofTokens.length >= max.perAccount || ofToken.length >= max.perToken))
        return null;
      const inAll = [...tails.values()].reduce((sum, { followers }) => sum + followers.size, 0);
      if (own.length >= max.toOne || (inAll >= max.inAll && !makeWay(own.length))) return null;
      const tail = tails.get(account) ?? open(account);
      const follower: Follower = { token, partsAt: null };
      tail.followers.add(follower);
      return {
        next: (after, waitMs, signal) => next(tail, follower, after, waitMs, signal),
        [Symbol.dispose]: () => leave(tail, follower),
      };
    },
    stop() {
      stopped = true;
      for (const tail of tails.values()) {
        clearTimeout(tail.timer);
        void wake(tail);
      }
      tails.clear();
    },
  };
}

function largestOf(tails: Iterable<Tail>): Tail | null {
  let largest: Tail | null = null;
  for (const tail of tails) if (tail.followers.size > (largest?.followers.size ?? 0)) largest = tail;
  return largest;
}

/** Reads the entries since the last read; true if there may be more. */
async function look(log: EventLog, tail: Tail): Promise<boolean> {
  const head = await log.head(tail.account);
  const from = tail.head;
  if (from !== null && isSameCheckpoint(from, head)) return false;
  if (from === null) {
    tail.head = head;
  } else if (head.position > from.position) {
    const { entries, more } = await log.readAfter(tail.account, from, recentMax);
    const [first] = entries;
    if (first !== undefined && !mayFollow(from, first)) return setBack(log, tail, from);
    tail.recent = latest([...tail.recent, ...entries]);
    tail.head = entries.at(-1) ?? (more ? from : head);
  } else return setBack(log, tail, from);
  await wake(tail);
  return tail.head.position < head.position;
}

function latest(entries: readonly LogEntry[]): readonly LogEntry[] {
  return fitting(entries.slice(-recentMax).toReversed(), recentBytesMax).toReversed();
}

// Redis was set back: all listeners resume where the two logs diverge, because other events may have taken
// the positions after it.
async function setBack(log: EventLog, tail: Tail, from: Checkpoint): Promise<boolean> {
  const common = await log.commonWith(tail.account, from);
  tail.head = common;
  tail.recent = tail.recent.filter(({ position }) => position <= common.position);
  for (const follower of tail.followers)
    if (follower.partsAt === null || follower.partsAt.position > common.position) follower.partsAt = common;
  await wake(tail);
  return true;
}

function isBehind({ head }: Tail, after: Checkpoint): boolean {
  return head !== null && after.position < head.position;
}

async function readBehind(log: EventLog, tail: Tail, after: Checkpoint): Promise<Following> {
  const [oldest] = tail.recent;
  const isRecent = oldest !== undefined && oldest.position <= after.position + 1;
  // A slow listener keeps its entries in memory.
  const entries = isRecent
    ? fitting(
        tail.recent.filter(({ position }) => position > after.position),
        bodiesAtOnceMax,
      )
    : (await log.readAfter(tail.account, after, catchUpBatch)).entries;
  const [first] = entries;
  if (first !== undefined && !mayFollow(after, first))
    return { entries: [], position: await log.commonWith(tail.account, after) };
  return { entries, position: entries.at(-1) ?? (isRecent ? after : (tail.head ?? after)) };
}

// Each listener renders and writes when it is woken, in the same turn of the event loop.
async function wake({ waiting }: Tail): Promise<void> {
  let woken = 0;
  const listeners = [...waiting]; // one that is woken may wait again
  for (const end of listeners) {
    end();
    woken += 1;
    if (woken % wokenAtOnce === 0) await nextTurn();
  }
}

// Written without `Promise.race` and `AbortSignal.any`: each listener waits after every read, and these would
// cost more than all its other work.
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
