import type { LogEntry } from '../../events/event-log.ts';
import type { Cursor } from '../../subscriptions/cursor.ts';
import type { Limiter } from './limiter.ts';
import { laneAfterFailure, laneAfterHead, newLane, type Lane, type Lanes, type Wait } from './lanes.ts';

/** An event whose turn it is to be sent. */
export interface Turn {
  readonly position: number;
  /** Null when its body was not kept: the event has to be read from the log again. */
  readonly entry: LogEntry | null;
  readonly filingId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** An event in flight. */
export interface Work extends Turn {
  /** Id of the replay that it belongs to; null for an event of the log. */
  readonly replay: string | null;
  /** True when the attempt is to find out whether a down endpoint is back. */
  readonly probe: boolean;
  /** Milliseconds on Redis's clock. */
  readonly startedAt: number;
  /** Number of times that everything had been made due at once when the attempt was started. */
  readonly round: number;
}

/**
 * The fate of an event after its attempt: `done` (delivered, or no longer wanted), `undone` (left for the
 * next run), given up after its last retry, or tried again.
 */
export type Fate = 'done' | 'undone' | 'given_up' | Wait;

/** The progress of the events of a log or a replay, as stored. */
export interface TrackStart {
  readonly cursor: Cursor;
  readonly lanes: Lanes;
  /** Whether a lane whose first event is at `position` may not be started now, whenever it is due. */
  readonly isBlocked?: (filingId: string, position: number) => boolean;
}

/** An event that has not been tried yet. */
type Untried = Omit<Turn, 'attempt'>;

// Maximum number of events behind others of their filing. Each write of results lists the events delivered
// between them, range by range.
const followersMax = 1_000;
// Maximum bytes of bodies that wait for a place in flight.
const readyBytesMax = 1024 * 1024;
// Maximum bytes of bodies kept of followers; beyond that only the position of a follower is kept.
const keptBytesMax = 1024 * 1024;

/**
 * Events on their way to a subscription in the order of the log: those of the log itself, or those of a
 * replay. Order per filing holds for two reasons: a filing is busy from the start of a turn until its result
 * is written, and no event of a filing is started while another event of it waits in its lane. At most one
 * event of a filing is ready; its followers wait behind it, or behind the event in flight.
 */
export class Track {
  /** Id of the replay; null for the events of the log. */
  readonly replay: string | null;
  readonly lanes: Lanes;
  readonly #cursor: Cursor;
  readonly #isBlocked: (filingId: string) => boolean;
  readonly #limiter: Limiter;
  readonly #ready: Untried[] = [];
  readonly #readyFilings = new Set<string>();
  readonly #behind = new Map<string, Untried[]>();
  #followers = 0;
  #readyBytes = 0;
  #keptBytes = 0;

  constructor(
    { cursor, lanes, isBlocked = () => false }: TrackStart,
    limiter: Limiter,
    replay: string | null,
  ) {
    this.replay = replay;
    this.lanes = lanes;
    this.#cursor = cursor;
    this.#isBlocked = (filingId) => isBlocked(filingId, lanes.get(filingId)?.positions[0] ?? 0);
    this.#limiter = limiter;
  }

  /** Accepts the next event, in the order of the log; an unwanted event counts as done. */
  accept(entry: LogEntry, isWanted: boolean): void {
    const { position, filingId } = entry;
    const lane = isWanted ? this.lanes.get(filingId) : undefined;
    if (isWanted && lane === undefined) return this.#await(entry);
    this.#cursor.markDone(position);
    if (lane !== undefined) this.lanes.append(filingId, position);
  }

  /** Whether another event fits into memory. */
  hasRoom(): boolean {
    const ready = this.#ready.length;
    if (this.#followers >= followersMax || ready >= 2 * this.#limiter.limit()) return false;
    return this.#readyBytes < readyBytesMax || ready < this.#places();
  }

  /** Whether the events accepted so far need all free places for their first attempts. */
  fillsPlaces(): boolean {
    const free = this.#ready.filter(({ filingId }) => !this.#limiter.isBusy(filingId));
    return free.length >= this.#places();
  }

  /** Starts the oldest ready event whose filing is not busy. Null if there is none. */
  startFirst(): Turn | null {
    const index = this.#ready.findIndex(({ filingId }) => !this.#limiter.isBusy(filingId));
    const [first] = index < 0 ? [] : this.#ready.splice(index, 1);
    if (first === undefined) return null;
    this.#readyFilings.delete(first.filingId);
    this.#readyBytes -= first.entry?.bytes ?? 0;
    return { ...first, attempt: 1 };
  }

  /** Starts the lane due first at `now`; when `now` is Infinity, any lane. */
  startRetry(now: number): Turn | null {
    const due = this.lanes.start(now, (filingId) => this.#mustWait(filingId));
    if (due === null) return null;
    const { filingId, lane } = due;
    return { position: lane.positions[0] ?? 0, entry: null, filingId, attempt: lane.tried + 1 };
  }

  /** Whether an event could be started at `now`. */
  mayStart(now: number): boolean {
    if (this.#ready.some(({ filingId }) => !this.#limiter.isBusy(filingId))) return true;
    const dueAt = this.lanes.nextDueAt((filingId) => this.#mustWait(filingId));
    return dueAt !== null && dueAt <= now;
  }

  /**
   * Puts an attempt's result into effect. An event to be tried again waits in its lane, and the filing's
   * later events wait behind it.
   */
  settle(turn: Turn, fate: Fate, now: number): void {
    if (fate === 'undone') return;
    const { filingId, position } = turn;
    if (fate === 'done') {
      const lane = this.lanes.get(filingId);
      if (lane === undefined) this.#cursor.markDone(position);
      else this.lanes.put(filingId, laneAfterHead(lane, now));
      return;
    }
    const lane = this.#laneOfFailed(turn, now);
    const next = fate === 'given_up' ? laneAfterHead(lane, now) : laneAfterFailure(lane, fate, now);
    this.lanes.put(filingId, next);
  }

  /** The result of the filing's event in flight is written, so its next event becomes ready. */
  unblock(filingId: string): void {
    const followers = this.#behind.get(filingId);
    if (followers === undefined || this.#readyFilings.has(filingId)) return;
    const first = followers.shift();
    if (followers.length === 0) this.#behind.delete(filingId);
    if (first === undefined) return;
    this.#noLongerBehind(first);
    this.#ready.unshift(first);
    this.#readyBytes += first.entry?.bytes ?? 0;
    this.#readyFilings.add(filingId);
  }

  /**
   * Whether an event of the filing, at a position lower than `before` if given, waits here: for its first
   * attempt, or for a retry.
   */
  waits(filingId: string, before = Infinity): boolean {
    const ready = this.#readyFilings.has(filingId)
      ? this.#ready.find((each) => each.filingId === filingId)
      : undefined;
    const first = ready ?? this.#behind.get(filingId)?.[0];
    return (this.lanes.get(filingId)?.positions[0] ?? first?.position ?? Infinity) < before;
  }

  /** When the first unblocked lane not in flight is due, in milliseconds. Null if there is none. */
  nextDueAt(): number | null {
    return this.lanes.nextDueAt(this.#isBlocked);
  }

  // Number of events that could be started now.
  #places(): number {
    return this.#limiter.limit() - this.#limiter.inFlight();
  }

  #mustWait(filingId: string): boolean {
    return this.#limiter.isBusy(filingId) || this.#isBlocked(filingId);
  }

  #await(entry: LogEntry): void {
    const { position, filingId, bytes } = entry;
    const isFirst = !this.#readyFilings.has(filingId) && !this.#behind.has(filingId);
    if (isFirst && !this.#limiter.isBusy(filingId)) {
      this.#ready.push({ position, filingId, entry });
      this.#readyBytes += bytes;
      this.#readyFilings.add(filingId);
      return;
    }
    const isKept = this.#keptBytes + bytes <= keptBytesMax;
    if (isKept) this.#keptBytes += bytes;
    this.#followers += 1;
    const follower: Untried = { position, filingId, entry: isKept ? entry : null };
    const followers = this.#behind.get(filingId);
    if (followers === undefined) this.#behind.set(filingId, [follower]);
    else followers.push(follower);
  }

  #noLongerBehind({ entry }: Untried): void {
    this.#followers -= 1;
    this.#keptBytes -= entry?.bytes ?? 0;
  }

  // An event that fails for the first time moves into a lane, with the filing's events behind it.
  #laneOfFailed({ filingId, position }: Turn, now: number): Lane {
    const lane = this.lanes.get(filingId);
    if (lane !== undefined) return lane;
    const followers = this.#behind.get(filingId) ?? [];
    this.#behind.delete(filingId);
    for (const each of followers) this.#noLongerBehind(each);
    const positions = [position, ...followers.map((each) => each.position)];
    for (const each of positions) this.#cursor.markDone(each);
    return newLane(positions, now);
  }
}
