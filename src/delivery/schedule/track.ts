import type { LogEntry } from '../../events/event-log.ts';
import type { Cursor } from '../../subscriptions/cursor.ts';
import { laneAfterFailure, laneAfterHead, newLane, type Lane, type Lanes, type Wait } from './lanes.ts';

/** An event whose turn it is to be sent. */
export interface Turn {
  readonly position: number;
  /** Null when the event has to be read from the log again. */
  readonly entry: LogEntry | null;
  readonly filingId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** An event in flight. */
export interface Work extends Turn {
  readonly track: 'live' | 'replay';
  /** True when the attempt is to find out whether a down endpoint is back. */
  readonly probe: boolean;
  /** Milliseconds on Redis's clock. */
  readonly startedAt: number;
  /** Number of times that everything had been made due at once when the attempt was started. */
  readonly round: number;
}

/**
 * The fate of an event after its attempt: `done` (delivered, or no longer wanted), `undone` (left for the
 * next drain), given up after its last retry, or tried again.
 */
export type Fate = 'done' | 'undone' | 'given_up' | Wait;

/** The intake of events, in the order of the log. */
export interface Intake {
  /** Accepts the next event; an unwanted event counts as done. */
  accept(entry: LogEntry, wanted: boolean): void;
  /** Whether another event fits into memory. */
  hasRoom(): boolean;
  /** Whether the events accepted so far need all free places for their first attempts. */
  fillsPlaces(): boolean;
}

/**
 * Events on their way to a subscription in the order of the log: those of the log itself, or those of a
 * replay. Order per filing holds for two reasons: a filing is busy from the start of a turn until `unblock`,
 * and no event of a filing is started while another event of it waits in its lane.
 */
export interface Track extends Intake {
  startFirst(): Turn | null;
  /** Starts the lane due first at `now`; when `now` is Infinity, any lane. */
  startRetry(now: number): Turn | null;
  /**
   * Number of events that could be started at `now`; all lanes that are due count as one.
   */
  startable(now: number): number;
  /**
   * Puts an attempt's result into effect. An event to be tried again waits in its lane, and the filing's
   * later events wait behind it.
   */
  settle(turn: Turn, fate: Fate, now: number): void;
  /** The result of the filing's event in flight is written, so its next event may start. */
  unblock(filingId: string): void;
  /**
   * Whether an event of the filing, at a position lower than `before` if given, waits here: for its first
   * attempt, or for a retry.
   */
  waits(filingId: string, before?: number): boolean;
  /** When the first lane not in flight and not blocked is due, in milliseconds; null when there is none. */
  nextDueAt(): number | null;
}

export interface TrackDeps {
  readonly cursor: Cursor;
  readonly lanes: Lanes;
  /** Whether an event of the filing is in flight, on this track or another one of the subscription. */
  readonly isBusy: (filingId: string) => boolean;
  /** Whether a lane whose first event is at `position` may not be started now, whenever it is due. */
  readonly isBlocked: (filingId: string, position: number) => boolean;
  /** Maximum number of events ready to be sent. */
  readonly readyMax: () => number;
  /** Number of events that could be started now. */
  readonly places: () => number;
}

// Maximum number of events behind others of their filing. Each write of results lists the events delivered
// between them, range by range.
const followersMax = 1_000;
// Maximum bytes of bodies that wait for a place in flight.
const readyBytesMax = 1024 * 1024;
// Maximum bytes of bodies kept of followers; beyond that only the position of a follower is kept.
const keptBytesMax = 1024 * 1024;

/** A track that starts from its cursor and lanes. */
export function createTrack({ cursor, lanes, isBusy, isBlocked, readyMax, places }: TrackDeps): Track {
  const untried = createUntriedEvents();
  const isLaneBlocked = (filingId: string) => isBlocked(filingId, lanes.get(filingId)?.positions[0] ?? 0);

  // An event that fails for the first time moves into a lane, with the filing's events behind it.
  function laneOfFailed({ filingId, position }: Turn, now: number): Lane {
    const lane = lanes.get(filingId);
    if (lane !== undefined) return lane;
    const positions = [position, ...untried.removeFollowers(filingId)];
    for (const each of positions) cursor.markDone(each);
    return newLane(positions, now);
  }

  function finish({ filingId, position }: Turn, now: number): void {
    const lane = lanes.get(filingId);
    if (lane === undefined) cursor.markDone(position);
    else lanes.put(filingId, laneAfterHead(lane, now));
  }

  return {
    accept(entry, wanted) {
      const { position, filingId } = entry;
      const lane = wanted ? lanes.get(filingId) : undefined;
      if (wanted && lane === undefined) return untried.accept(entry, isBusy(filingId));
      cursor.markDone(position);
      if (lane !== undefined) lanes.append(filingId, position);
    },
    hasRoom: () =>
      untried.followers() < followersMax &&
      untried.ready() < readyMax() &&
      (untried.readyBytes() < readyBytesMax || untried.ready() < places()),
    fillsPlaces: () => untried.startable(isBusy) >= places(),
    startFirst() {
      const first = untried.start(isBusy);
      return first === null ? null : { ...first, attempt: 1 };
    },
    startRetry(now) {
      const due = lanes.start(now, (filingId) => isBusy(filingId) || isLaneBlocked(filingId));
      if (due === null) return null;
      const { filingId, lane } = due;
      return { position: lane.positions[0] ?? 0, entry: null, filingId, attempt: lane.tried + 1 };
    },
    startable(now) {
      const dueAt = lanes.nextDueAt((filingId) => isBusy(filingId) || isLaneBlocked(filingId));
      return untried.startable(isBusy) + (dueAt !== null && dueAt <= now ? 1 : 0);
    },
    settle(turn, fate, now) {
      if (fate === 'undone') return;
      if (fate === 'done') return finish(turn, now);
      const lane = laneOfFailed(turn, now);
      const next = fate === 'given_up' ? laneAfterHead(lane, now) : laneAfterFailure(lane, fate, now);
      lanes.put(turn.filingId, next);
    },
    unblock: untried.unblock,
    waits: (filingId, before = Infinity) =>
      (lanes.get(filingId)?.positions[0] ?? untried.first(filingId)) < before,
    nextDueAt: () => lanes.nextDueAt(isLaneBlocked),
  };
}

/** An event that has not been tried yet. */
interface Untried {
  readonly position: number;
  readonly filingId: string;
  /** Null when its body was not kept; the event then has to be read from the log again. */
  readonly entry: LogEntry | null;
}

/**
 * Events read from the log and not sent yet. At most one event of a filing is ready; its followers wait
 * behind it, or behind the event in flight, in the order of the log.
 */
interface UntriedEvents {
  /** Accepts the next event; `busy` is true while another event of its filing is in flight. */
  accept(entry: LogEntry, busy: boolean): void;
  /** Starts the oldest ready event whose filing is not busy; null when there is none. */
  start(isBusy: (filingId: string) => boolean): Untried | null;
  /** Number of events that could be started. */
  startable(isBusy: (filingId: string) => boolean): number;
  /** Removes the followers of the filing's event in flight and returns their positions. */
  removeFollowers(filingId: string): number[];
  /** The filing's event in flight is settled, so its next event becomes ready. */
  unblock(filingId: string): void;
  /** Position of the filing's first event that is ready or behind another one; Infinity without any. */
  first(filingId: string): number;
  ready(): number;
  /** Bytes of the bodies of ready events. */
  readyBytes(): number;
  followers(): number;
}

/** No events yet. */
export function createUntriedEvents(): UntriedEvents {
  const ready: Untried[] = [];
  const readyFilings = new Set<string>();
  const behind = new Map<string, Untried[]>();
  let followers = 0;
  let keptBytes = 0;
  let readyBytes = 0;

  function addBehind(entry: LogEntry): void {
    const { position, filingId, bytes } = entry;
    const keep = keptBytes + bytes <= keptBytesMax;
    if (keep) keptBytes += bytes;
    followers += 1;
    const queue = behind.get(filingId);
    const follower: Untried = { position, filingId, entry: keep ? entry : null };
    if (queue === undefined) behind.set(filingId, [follower]);
    else queue.push(follower);
  }

  function noLongerBehind({ entry }: Untried): void {
    followers -= 1;
    keptBytes -= entry?.bytes ?? 0;
  }

  return {
    accept(entry, busy) {
      const { position, filingId, bytes } = entry;
      if (busy || readyFilings.has(filingId) || behind.has(filingId)) return addBehind(entry);
      ready.push({ position, filingId, entry });
      readyBytes += bytes;
      readyFilings.add(filingId);
    },
    start(isBusy) {
      const first = ready.find(({ filingId }) => !isBusy(filingId));
      if (first === undefined) return null;
      if (first === ready[0]) ready.shift();
      else ready.splice(ready.indexOf(first), 1);
      readyFilings.delete(first.filingId);
      readyBytes -= first.entry?.bytes ?? 0;
      return first;
    },
    startable: (isBusy) => ready.reduce((count, { filingId }) => count + (isBusy(filingId) ? 0 : 1), 0),
    removeFollowers(filingId) {
      const queue = behind.get(filingId) ?? [];
      behind.delete(filingId);
      for (const each of queue) noLongerBehind(each);
      return queue.map(({ position }) => position);
    },
    unblock(filingId) {
      const queue = behind.get(filingId);
      if (queue === undefined || readyFilings.has(filingId)) return;
      const first = queue.shift();
      if (queue.length === 0) behind.delete(filingId);
      if (first === undefined) return;
      noLongerBehind(first);
      ready.unshift(first);
      readyBytes += first.entry?.bytes ?? 0;
      readyFilings.add(filingId);
    },
    first(filingId) {
      const isReady = readyFilings.has(filingId);
      const first = isReady ? ready.find((each) => each.filingId === filingId) : behind.get(filingId)?.[0];
      return first?.position ?? Infinity;
    },
    ready: () => ready.length,
    readyBytes: () => readyBytes,
    followers: () => followers,
  };
}
