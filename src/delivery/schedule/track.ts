import type { LogEntry } from '../../events/event-log.ts';
import { createFirstTries } from './first-tries.ts';
import { isProven, laneAfterFailure, laneAfterHead, laneKept, newLane } from './lanes.ts';
import type { LaneSet } from './lane-set.ts';
import type { Cursor } from '../../subscriptions/cursor.ts';

/** An event whose turn it is to be sent. */
export interface Turn {
  readonly position: number;
  /** Null when it has to be read from the log again. */
  readonly entry: LogEntry | null;
  readonly filingId: string;
  /** 1 for the first try. */
  readonly attempt: number;
}

/**
 * What a failed attempt costs the event: one of its retries, or nothing but the wait until `dueAt`
 * (milliseconds), because the endpoint is to blame and not the event.
 */
export type Charge = 'retry' | { readonly dueAt: number };

/**
 * Events on their way to a subscription in the order of the log: those of the log itself, or those of a
 * replay. Order per filing holds because whoever starts a turn keeps the filing busy until `free`, and
 * because nothing of a filing is started while another one of it waits in its lane.
 */
export interface DeliveryTrack {
  /** Takes in the next entry; one that is not wanted is done with. */
  take(entry: LogEntry, wanted: boolean): void;
  startFirst(): Turn | null;
  /** The lane due first at `now`; every lane when `now` is Infinity. */
  startRetry(now: number): Turn | null;
  /** The event is delivered, given up or no longer wanted. */
  finish(turn: Turn, now: number): void;
  /** Whether failing now proves the event itself to be at fault, see `isProven`. */
  isProven(turn: Turn, workedAt: number): boolean;
  /**
   * The event was not delivered: it goes to its filing's lane with those behind it. True when that exhausts
   * its retries.
   */
  fail(turn: Turn, failure: { readonly charge: Charge; readonly proven: boolean }, now: number): boolean;
  /** When an event that failed may be tried again, in milliseconds; null when it is not tried again. */
  dueAt(turn: Turn): number | null;
  /** The outcome of the filing's event in flight is written: the next one may go. */
  free(filingId: string): void;
  /** Whether another event fits into memory. */
  hasRoom(): boolean;
  ready(): number;
}

export interface DeliveryTrackDeps {
  readonly cursor: Cursor;
  readonly lanes: LaneSet;
  /** Whether an event of the filing is in flight, on this track or another one of the subscription. */
  readonly isBusy: (filingId: string) => boolean;
  readonly retryMs: readonly number[];
  readonly random: () => number;
  readonly readyMax: number;
  /** How many could be started now. */
  readonly places: () => number;
}

// Maximum of events behind others of their filing. What was delivered between them is written with each
// outcome, range by range.
const followersMax = 1_000;
// Maximum of bytes of bodies that wait for a place in flight.
const readyBytesMax = 1024 * 1024;

/** A track at the place where its cursor and lanes are. */
export function createDeliveryTrack(deps: DeliveryTrackDeps): DeliveryTrack {
  const { cursor, lanes, isBusy, retryMs, random, readyMax, places } = deps;
  const untried = createFirstTries();

  function laneOfFailed({ filingId, position }: Turn, now: number) {
    const lane = lanes.get(filingId);
    if (lane !== undefined) return lane;
    const positions = [position, ...untried.leaveFollowers(filingId)];
    for (const each of positions) cursor.markDone(each);
    return newLane(positions, now);
  }

  return {
    take(entry, wanted) {
      const { position, filingId } = entry;
      const lane = wanted ? lanes.get(filingId) : undefined;
      if (wanted && lane === undefined) return untried.add(entry, isBusy(filingId));
      cursor.markDone(position);
      if (lane !== undefined) lanes.append(filingId, position);
    },
    startFirst() {
      const first = untried.take(isBusy);
      return first === null ? null : { ...first, attempt: 1 };
    },
    startRetry(now) {
      const due = lanes.take(now, isBusy);
      if (due === null) return null;
      const { filingId, lane } = due;
      return { position: lane.positions[0] ?? 0, entry: null, filingId, attempt: lane.tried + 1 };
    },
    finish({ filingId, position }, now) {
      const lane = lanes.get(filingId);
      if (lane === undefined) cursor.markDone(position);
      else lanes.put(filingId, laneAfterHead(lane, now));
    },
    isProven: ({ filingId }, workedAt) => isProven(lanes.get(filingId), workedAt),
    fail(turn, { charge, proven }, now) {
      const former = laneOfFailed(turn, now);
      const lane = proven ? { ...former, proven } : former;
      if (charge !== 'retry') {
        lanes.put(turn.filingId, laneKept(lane, now, charge.dueAt));
        return false;
      }
      const failed = laneAfterFailure(lane, now, retryMs, random);
      lanes.put(turn.filingId, failed.lane);
      return failed.exhausted;
    },
    dueAt({ filingId, position }) {
      const lane = lanes.get(filingId);
      return lane?.positions[0] === position ? lane.dueAt : null;
    },
    free: untried.free,
    hasRoom: () =>
      untried.followers() < followersMax &&
      untried.ready() < readyMax &&
      (untried.readyBytes() < readyBytesMax || untried.ready() < places()),
    ready: untried.ready,
  };
}
