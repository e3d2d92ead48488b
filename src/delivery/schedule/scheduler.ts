import type { Cursor } from '../../subscriptions/cursor.ts';
import { healthyAgain, isDown, probeDelayMsMax, type EndpointHealth } from './endpoint-health.ts';
import type { Lane, Lanes } from './lanes.ts';
import type { DrainPlaces } from './drain-places.ts';
import { correctedHealth, correctedLane, healthAfterGap } from './stepped-clock.ts';
import { createTrack, type Intake, type Track, type TrackDeps, type Turn, type Work } from './track.ts';
import { turnOrder, type Kind } from './turn-order.ts';
import type { Verdict, VerdictRules } from './verdict.ts';

export interface SchedulerRules {
  readonly retryMs: readonly number[];
  readonly random: () => number;
}

/** The stored progress of the events of a log or a replay. */
export interface TrackStart {
  readonly cursor: Cursor;
  readonly lanes: Lanes;
}

/** The scheduler's part of a subscription's claim. */
export interface SchedulerStart extends TrackStart {
  readonly health: EndpointHealth;
  readonly releasedAt: number;
  readonly places: DrainPlaces;
}

/**
 * One drain's view of its subscription: which events are ready, in flight, behind another event of their
 * filing or in a lane, and the endpoint's health. Decides which event is sent next, without I/O. First
 * attempts go before retries, retries before replays, and none of them starves. A filing never has two events
 * in flight, wherever they come from.
 */
export interface SendScheduler {
  /** The intake of the log's events. */
  readonly live: Intake;
  /**
   * Begins to send a replay's events when there are no others; returns their intake. A lane of it is not
   * started as long as `isBlocked` is true of its first event.
   */
  startReplay(start: TrackStart, isBlocked?: TrackDeps['isBlocked']): Intake;
  /**
   * Whether an event of the filing waits that is not replayed, at a position lower than `before` if given:
   * for its first attempt, or for a retry.
   */
  liveWaits(filingId: string, before?: number): boolean;
  /** The replay is finished. */
  endReplay(): void;
  /** None of the replay's events is started any more; those in flight may still be settled. */
  cancelReplay(): void;
  /** Whether an event of the replay is in flight. */
  hasReplayInFlight(): boolean;
  /** Starts the next event that may be sent now; null when there is none. */
  startNext(now: number): Work | null;
  /** Number of events that `startNext` would start now, one after the other; a lower bound. */
  startable(now: number): number;
  /** The endpoint's health after all results settled so far. */
  health(): EndpointHealth;
  /** The lane of an event in flight; undefined on its first attempt. */
  laneOf(work: Work): Lane | undefined;
  /** The rules by which results are judged. */
  verdictRules(): VerdictRules;
  /** Puts a verdict into effect. The event's filing stays busy until `unblock`. */
  settle(work: Work, verdict: Verdict, now: number): void;
  /** The result is written, so the filing's next event may start. */
  unblock(work: Work): void;
  /** Makes every waiting event due. Attempts in flight no longer count for or against the endpoint. */
  retryNow(now: number): void;
  /** Corrects all times after Redis's clock, which was ahead by `aheadMs`, has been set right. */
  setBack(aheadMs: number, now: number): void;
  /** Takes note that an event was due at `expectedAt` and no attempt was made until now. */
  resume(expectedAt: number, now: number): void;
  isPaused(now: number): boolean;
  /** When everything was last made due at once, in milliseconds; 0 = never. */
  releasedAt(): number;
  /** When the next probe or retry is due, in milliseconds; null when there is none. */
  nextDueAt(now: number): number | null;
}

/** The replay that is open. */
interface Replayed {
  readonly track: Track;
  readonly lanes: Lanes;
  cancelled: boolean;
}

const never = (): boolean => false;

/** A scheduler with nothing in flight. */
export function createScheduler(rules: SchedulerRules, start: SchedulerStart): SendScheduler {
  const { retryMs, random } = rules;
  const { places } = start;
  // The filings in flight, the oldest first, and when each was started.
  const inFlight = new Map<string, number>();
  const isBusy = (filingId: string) => inFlight.has(filingId);
  const newTrack = ({ cursor, lanes }: TrackStart, isBlocked: TrackDeps['isBlocked'] = never): Track =>
    createTrack({
      cursor,
      lanes,
      isBusy,
      isBlocked,
      readyMax: () => 2 * places.limit(),
      places: () => places.limit() - inFlight.size,
    });

  const live = newTrack(start);
  let replay: Replayed | null = null;
  let { health, releasedAt } = start;
  let round = 0;
  let starts = 0;
  let replaysInFlight = 0;

  const oldestAt = () => {
    for (const startedAt of inFlight.values()) return startedAt;
    return null;
  };
  const allLanes = () => (replay === null ? [start.lanes] : [start.lanes, replay.lanes]);

  function startTurn(kind: Kind, now: number, probe: boolean): Work | null {
    // Any event may serve as a probe, because due times have no meaning while the endpoint is down.
    const due = probe ? Infinity : now;
    const turn =
      kind === 'first' ? live.startFirst() : kind === 'retry' ? live.startRetry(due) : startReplayed(due);
    if (turn === null) return null;
    const { position, entry, filingId, attempt } = turn;
    const track = kind === 'replay' ? 'replay' : 'live';
    return { position, entry, filingId, attempt, track, probe, startedAt: now, round };
  }

  // The other half is kept for events that may still come from the log.
  function mayReplay(): boolean {
    return replaysInFlight < Math.max(1, places.limit() >> 1);
  }

  // Whether another event may be sent at all, whatever it is.
  function mayStart(now: number, probe: boolean): boolean {
    if (now < health.pausedUntil || (probe && inFlight.size > 0)) return false;
    return places.isFree(inFlight.size, oldestAt(), now);
  }

  function startReplayed(now: number): Turn | null {
    if (replay === null || replay.cancelled || !mayReplay()) return null;
    return replay.track.startFirst() ?? replay.track.startRetry(now);
  }

  function retryAllNow(now: number): void {
    releasedAt = now;
    for (const lanes of allLanes()) lanes.retryNow(now);
  }

  // Filings that failed repeatedly with no success between them need not wait much longer once there is a
  // success. Filings that are due as soon as a probe would be keep their schedule, because they may fail by
  // themselves.
  function retryDoubted(filings: readonly string[], now: number): void {
    if (filings.length === 0) return;
    for (const lanes of allLanes())
      for (const filingId of filings) {
        const lane = lanes.get(filingId);
        if (isDoubted(lane) && lane.dueAt > now + probeDelayMsMax) lanes.retryOneNow(filingId, now);
      }
  }

  return {
    live,
    startReplay(stored, isBlocked) {
      const track = newTrack(stored, isBlocked);
      replay = { track, lanes: stored.lanes, cancelled: false };
      return track;
    },
    liveWaits: live.waits,
    endReplay() {
      replay = null;
    },
    cancelReplay() {
      if (replay !== null) replay.cancelled = true;
    },
    hasReplayInFlight: () => replaysInFlight > 0,
    startNext(now) {
      const probe = isDown(health);
      if (!mayStart(now, probe)) return null;
      for (const kind of turnOrder(probe ? health.probes : starts + 1, probe)) {
        const work = startTurn(kind, now, probe);
        if (work === null) continue;
        starts += 1;
        places.take(inFlight.size);
        inFlight.set(work.filingId, now);
        if (work.track === 'replay') replaysInFlight += 1;
        return work;
      }
      return null;
    },
    startable(now) {
      const probe = isDown(health);
      if (!mayStart(now, probe)) return 0;
      const due = probe ? Infinity : now;
      const replayed = replay === null || replay.cancelled || !mayReplay() ? 0 : replay.track.startable(due);
      const free = probe ? 1 : places.limit() - inFlight.size;
      return Math.min(live.startable(due) + replayed, Math.max(1, free));
    },
    health: () => health,
    laneOf({ track, filingId }) {
      const { lanes } = track === 'live' ? start : (replay ?? start);
      return lanes.get(filingId);
    },
    verdictRules: () => ({ retryMs, random, round }),
    settle(work, { fate, health: after, retryNow }, now) {
      const track = work.track === 'live' ? live : (replay?.track ?? live);
      track.settle(work, fate, now);
      health = after;
      if (retryNow === 'all') retryAllNow(now);
      else retryDoubted(retryNow, now);
    },
    unblock(work) {
      places.giveBack(inFlight.size);
      inFlight.delete(work.filingId);
      if (work.track === 'replay') replaysInFlight -= 1;
      live.unblock(work.filingId);
      replay?.track.unblock(work.filingId);
    },
    retryNow(now) {
      round += 1;
      health = healthyAgain(health);
      retryAllNow(now);
    },
    setBack(aheadMs, now) {
      health = correctedHealth(health, aheadMs, now);
      releasedAt = Math.min(releasedAt, now);
      for (const lanes of allLanes()) lanes.correct((lane) => correctedLane(lane, aheadMs, now));
    },
    resume(expectedAt, now) {
      health = healthAfterGap(health, expectedAt, now);
    },
    isPaused: (now) => now < health.pausedUntil,
    releasedAt: () => releasedAt,
    nextDueAt(now) {
      if (now < health.pausedUntil) return health.pausedUntil;
      const replayed = replay === null || replay.cancelled ? null : replay.track.nextDueAt();
      const due = [live.nextDueAt(), replayed].filter((at) => at !== null);
      return due.length === 0 ? null : Math.min(...due);
    },
  };
}

// True for a lane that failed more than once. If its filing is among those that failed with no success
// between, the endpoint may be at fault.
function isDoubted(lane: Lane | undefined): lane is Lane {
  return lane !== undefined && lane.tried > 1;
}
