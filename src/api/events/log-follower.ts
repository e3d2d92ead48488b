import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { EventLog, LogEntry } from '../../events/event-log.ts';
import { type Checkpoint, isSameCheckpoint, mayFollow } from '../../events/timeline.ts';
import { type BoundedMap, createBoundedMap } from '../../memory/bounded-map.ts';

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
}

/** The end of an account's log, for those that listen to it. */
interface Tail {
  readonly account: string;
  readonly followers: Set<Follower>;
  /** The newest entry that was seen; null before the first read. */
  head: Checkpoint | null;
  /** The latest reads by the checkpoint at which they begin: listeners that keep up share them. */
  steps: BoundedMap<string, Following>;
  /** Listeners that wait for the next read that finds something. */
  readonly waiting: Set<() => void>;
}

// Maximum bytes of the reads in memory; the rendered text comes on top.
const stepsBytesMax = 4 * 1024 * 1024;
// Bytes that a read takes beside the bodies.
const stepBytes = 1_024;
const entriesAtOnce = 256;
// Maximum number of listeners that are woken in one turn of the event loop.
const wokenAtOnce = 10;

/**
 * A follower of logs for event streams, at most `max` listeners. It reads an account's head once per
 * `followMs` milliseconds for all of its listeners. It continues while Redis is away; listeners that are
 * behind fail and connect again.
 *
 * It polls rather than blocks: `XREAD BLOCK` holds a connection to Redis while it waits. That would take a
 * connection for each followed account, or one whose wait is interrupted whenever an account is added. At 250
 * ms an idle account costs four small reads a second.
 */
export function createLogFollower(log: EventLog, followMs: number, max: ListenersMax) {
  const tails = new Map<string, Tail>();
  let stopped = false;

  function open(account: string): Tail {
    const tail: Tail = { account, followers: new Set(), head: null, steps: noSteps(), waiting: new Set() };
    tails.set(account, tail);
    void keepLooking(tail);
    return tail;
  }

  async function keepLooking(tail: Tail): Promise<void> {
    while (tails.get(tail.account) === tail) {
      // Each look continues the one before.
      const isBehind = await look(log, tail).catch(() => false);
      if (!isBehind) await delay(followMs, undefined, { ref: false });
    }
  }

  function makeWay(own: number): boolean {
    const [largest] = [...tails.values()].toSorted((a, b) => b.followers.size - a.followers.size);
    const newest = [...(largest?.followers ?? [])].at(-1);
    if (largest === undefined || newest === undefined || largest.followers.size <= own + 1) return false;
    leave(largest, newest);
    void wake(largest);
    return true;
  }

  function leave(tail: Tail, follower: Follower): void {
    if (tail.followers.delete(follower) && tail.followers.size === 0) tails.delete(tail.account);
  }

  async function next(
    tail: Tail,
    follower: Follower,
    after: Checkpoint,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Following | null> {
    const isOver = () => stopped || !tail.followers.has(follower);
    const isBehind = tail.head !== null && after.position < tail.head.position;
    if (!isBehind && !isOver()) await untilChanged(tail, waitMs, signal);
    if (isOver()) return null;
    const { head } = tail;
    if (signal.aborted || head === null || isSameCheckpoint(head, after))
      return { entries: [], position: after };
    return tail.steps.get(keyOf(after)) ?? readStep(log, tail.account, after, head);
  }

  return {
    /**
     * Null if there are too many listeners: with this token, to this account, or in all. The operator's token
     * is null and does not count towards the limits of the account's tokens. If all places are taken, the
     * newest listener of the account with the most is ended instead, unless this account would have as many.
     */
    follow(account: string, token: string | null): FollowedLog | null {
      const own = [...(tails.get(account)?.followers ?? [])];
      const ofTokens = own.filter((one) => one.token !== null);
      const ofToken = ofTokens.filter((one) => one.token === token);
      if (token !== null && (ofTokens.length >= max.perAccount || ofToken.length >= max.perToken))
        return null;
      const inAll = [...tails.values()].reduce((sum, { followers }) => sum + followers.size, 0);
      if (own.length >= max.toOne || (inAll >= max.inAll && !makeWay(own.length))) return null;
      const tail = tails.get(account) ?? open(account);
      const follower: Follower = { token };
      tail.followers.add(follower);
      return {
        next: (after, waitMs, signal) => next(tail, follower, after, waitMs, signal),
        [Symbol.dispose]: () => leave(tail, follower),
      };
    },
    /** Ends every `next`, pending or later. */
    stop(): void {
      stopped = true;
      for (const tail of tails.values()) void wake(tail);
      tails.clear();
    },
  };
}

/** Reads the entries since the last read; true if there may be more. */
async function look(log: EventLog, tail: Tail): Promise<boolean> {
  const head = await log.head(tail.account);
  const from = tail.head;
  if (from !== null && isSameCheckpoint(from, head)) return false;
  if (from === null) tail.head = head;
  else {
    const step = await readStep(log, tail.account, from, head);
    // Other events may have taken the positions after it.
    if (step.position.position < from.position) tail.steps = noSteps();
    tail.steps.set(keyOf(from), step);
    tail.head = step.position;
  }
  await wake(tail);
  return !isSameCheckpoint(tail.head, head);
}

function noSteps(): BoundedMap<string, Following> {
  return createBoundedMap(stepsBytesMax, ({ entries }) =>
    entries.reduce((sum, { bytes }) => sum + bytes, stepBytes),
  );
}

function keyOf({ position, timeline }: Checkpoint): string {
  return `${position} ${timeline}`;
}

/**
 * The entries after a checkpoint of a log whose newest entry is `head`. If Redis was set back since the
 * checkpoint was taken, there are none, and the position is the last one that the two logs share.
 */
async function readStep(
  log: EventLog,
  account: string,
  after: Checkpoint,
  head: Checkpoint,
): Promise<Following> {
  const { entries } = await log.readAfter(account, after, entriesAtOnce);
  const [first] = entries;
  if (first !== undefined && mayFollow(after, first)) return { entries, position: entries.at(-1) ?? after };
  const common = await log.commonWith(account, after);
  if (common.position < after.position) return { entries: [], position: common };
  // The entries between the two are trimmed.
  return { entries: [], position: first === undefined && head.position > after.position ? head : after };
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
