import type { LogEntry } from '../../events/event-log.ts';
import type { CallbackOutcome } from '../../callbacks/outcome.ts';
import { createDeliveryTrack, type Charge, type DeliveryTrack, type Turn } from './track.ts';
import type { LaneSet } from './lane-set.ts';
import type { Lane } from './lanes.ts';
import {
  healthAfter,
  healthyAgain,
  isBlameless,
  isDown,
  probeDelayMsMax,
  type EndpointHealth,
} from './endpoint-health.ts';
import type { Cursor } from '../../subscriptions/cursor.ts';
import { correctedHealth, correctedLane, healthAfterGap } from './stepped-clock.ts';

/** An event to send now. */
export interface Work extends Turn {
  readonly track: 'live' | 'replay';
  /** True when it is to find out whether a down endpoint is back. */
  readonly probe: boolean;
  /** Milliseconds on Redis's clock. */
  readonly startedAt: number;
  /** How many releases there had been when it was started. */
  readonly releases: number;
}

/** What an outcome led to. */
export interface Verdict {
  /** The event was given up. */
  readonly givenUp: boolean;
  /** It was held for or against the endpoint: not so when there was a release since the event was sent. */
  readonly judged: boolean;
}

export interface WindowRules {
  readonly maxInFlight: number;
  readonly retryMs: readonly number[];
  readonly random: () => number;
}

/**
 * One drain's picture of its subscription: what is ready, in flight, behind another event of its filing or in
 * a lane, and how the endpoint does. Decides what is sent next; does no I/O. First tries go before retries,
 * those before replays, and neither of them starves. A filing never has two events in flight, whatever they
 * come from.
 */
export interface DrainWindow {
  /** Takes in the next entry of the log; `wanted` false passes it over. */
  take(entry: LogEntry, wanted: boolean): void;
  /** Begins, or with null ends, to send the events of a replay when nothing else is to be sent. */
  replay(track: { readonly cursor: Cursor; readonly lanes: LaneSet } | null): DeliveryTrack | null;
  /** A replay that is not begun now has something to do at that time, milliseconds. */
  restReplay(until: number): void;
  /**
   * Until when the replay's lanes have nothing to do, in milliseconds; 0 when they have now, and while it is
   * open whether the endpoint works: they may serve as probes, or be tried early.
   */
  replayRestsUntil(): number;
  /** The next thing to send, now in flight; null when nothing may be sent now. */
  next(now: number): Work | null;
  /**
   * Takes in what came of it. Its filing stays in flight until `free`. What was aborted stays undone, for the
   * next drain: this one starts nothing more.
   */
  settle(work: Work, outcome: CallbackOutcome, now: number): Verdict;
  /**
   * When an event that failed is tried again as things stand, in milliseconds; null when it is not. A probe or
   * a release may come earlier.
   */
  nextAttemptAt(work: Work): number | null;
  /** The event was not sent, for it is no longer in the log or no longer wanted: it is done with. */
  drop(work: Work, now: number): void;
  /** Lets the filing's next event go, once the outcome of the former is written. */
  free(work: Work): void;
  /**
   * Everything that waits is due now, and what was under way before says nothing about the endpoint any more.
   */
  release(now: number): void;
  /** Redis's clock was ahead by so much (milliseconds) when all this was decided, and has been set right. */
  setBack(aheadMs: number, now: number): void;
  /** Something was to be tried at `expectedAt`, and nothing was until now. */
  resume(expectedAt: number, now: number): void;
  inFlight(): number;
  /** Whether more of the log fits in. */
  hasRoom(): boolean;
  isPaused(now: number): boolean;
  health(): EndpointHealth;
  /** When everything was made due at once for the last time, milliseconds; 0 = never. */
  releasedAt(): number;
  /** When a probe or retry is due, in milliseconds; null when none is waited for. */
  nextDueAt(now: number): number | null;
}

export interface WindowStart {
  readonly cursor: Cursor;
  readonly lanes: LaneSet;
  readonly health: EndpointHealth;
  readonly releasedAt: number;
}

type Kind = 'first' | 'retry' | 'replay';

const retriesEvery = 4;
const replaysEvery = 16;

/** Builds the window from what the subscription's claim returned. */
export function createDrainWindow(rules: WindowRules, start: WindowStart): DrainWindow {
  const flying = new Map<string, Work>();
  const live = createTrack(start);
  let replay: { readonly track: DeliveryTrack; readonly lanes: LaneSet } | null = null;
  let resumesAt: number | null = null;
  let health = start.health;
  let { releasedAt } = start;
  let releases = 0;
  let starts = 0;
  let replaysInFlight = 0;

  function isBusy(filingId: string): boolean {
    return flying.has(filingId);
  }

  function createTrack({ cursor, lanes }: Pick<WindowStart, 'cursor' | 'lanes'>): DeliveryTrack {
    return createDeliveryTrack({
      cursor,
      lanes,
      isBusy,
      retryMs: rules.retryMs,
      random: rules.random,
      readyMax: 2 * rules.maxInFlight,
      places: () => rules.maxInFlight - flying.size,
    });
  }

  function startReplay(now: number): Turn | null {
    // The other half is for what may still come from the log.
    if (replaysInFlight >= Math.max(1, rules.maxInFlight >> 1)) return null;
    return replay?.track.startFirst() ?? replay?.track.startRetry(now) ?? null;
  }

  function startTurn(kind: Kind, now: number, probe: boolean): Work | null {
    // A probe may be any event: when it is due says nothing while the endpoint is down.
    const due = probe ? Infinity : now;
    const turn =
      kind === 'first' ? live.startFirst() : kind === 'retry' ? live.startRetry(due) : startReplay(due);
    if (turn === null) return null;
    return { ...turn, track: kind === 'replay' ? 'replay' : 'live', probe, startedAt: now, releases };
  }

  function releaseLanes(now: number): void {
    releasedAt = now;
    start.lanes.release(now);
    replay?.lanes.release(now);
  }

  // Filings that failed repeatedly with no success between: now that there is one, they need not wait much
  // longer. Those that are due as soon as a probe would be keep to their schedule, for they may fail by
  // themselves.
  function releaseDoubted(filings: readonly string[], now: number): void {
    for (const { lanes } of [start, ...(replay === null ? [] : [replay])])
      for (const filingId of filings) {
        const lane = lanes.get(filingId);
        if (isDoubted(lane) && lane.dueAt > now + probeDelayMsMax) lanes.releaseOne(filingId, now);
      }
  }

  function judge(work: Work, outcome: CallbackOutcome, proven: boolean, now: number): void {
    const pauseRules = { firstDelayMs: rules.retryMs[0] ?? 0, random: rules.random };
    const former = health;
    health = healthAfter(former, { ...work, outcome, proven }, now, pauseRules);
    if (outcome.kind !== 'delivered') return;
    if (isDown(former)) releaseLanes(now);
    else releaseDoubted(former.failedFilings, now);
  }

  function chargeFor(outcome: CallbackOutcome, judged: boolean, wasDown: boolean, now: number): Charge {
    if (!judged || outcome.kind === 'gone') return { dueAt: now };
    if (outcome.kind === 'slow_down') return { dueAt: health.pausedUntil };
    const blameless = wasDown || isDown(health) || isBlameless(outcome);
    return blameless ? { dueAt: now + Math.min(rules.retryMs[0] ?? 0, probeDelayMsMax) } : 'retry';
  }

  const trackOf = (work: Work) => (work.track === 'live' ? live : (replay?.track ?? live));

  return {
    take: live.take,
    replay(stored) {
      replay = stored === null ? null : { track: createTrack(stored), lanes: stored.lanes };
      resumesAt = null;
      return replay?.track ?? null;
    },
    restReplay(until) {
      resumesAt = until;
    },
    replayRestsUntil() {
      if (replay === null || isDown(health)) return 0;
      const { lanes } = replay;
      return health.failedFilings.some((filingId) => isDoubted(lanes.get(filingId))) ? 0 : lanes.restsUntil();
    },
    next(now) {
      const probe = isDown(health);
      if (now < health.pausedUntil || flying.size >= (probe ? 1 : rules.maxInFlight)) return null;
      for (const kind of turnOrder(probe ? health.probes : starts + 1, probe)) {
        const work = startTurn(kind, now, probe);
        if (work === null) continue;
        starts += 1;
        flying.set(work.filingId, work);
        if (work.track === 'replay') replaysInFlight += 1;
        return work;
      }
      return null;
    },
    settle(work, outcome, now) {
      if (outcome.kind === 'aborted') return { givenUp: false, judged: false };
      const judged = work.releases === releases;
      const wasDown = isDown(health);
      const track = trackOf(work);
      const proven = judged && track.isProven(work, health.workedAt);
      if (outcome.kind === 'delivered') track.finish(work, now);
      if (judged) judge(work, outcome, proven, now);
      if (outcome.kind === 'delivered') return { givenUp: false, judged };
      const charge = chargeFor(outcome, judged, wasDown, now);
      return { givenUp: track.fail(work, { charge, proven }, now), judged };
    },
    nextAttemptAt(work) {
      const dueAt = trackOf(work).dueAt(work);
      return dueAt === null ? null : Math.max(dueAt, health.pausedUntil);
    },
    drop: (work, now) => trackOf(work).finish(work, now),
    free(work) {
      flying.delete(work.filingId);
      if (work.track === 'replay') replaysInFlight -= 1;
      live.free(work.filingId);
      replay?.track.free(work.filingId);
    },
    release(now) {
      releases += 1;
      health = healthyAgain(health);
      releaseLanes(now);
    },
    setBack(aheadMs, now) {
      health = correctedHealth(health, aheadMs, now);
      releasedAt = Math.min(releasedAt, now);
      for (const { lanes } of [start, ...(replay === null ? [] : [replay])])
        lanes.correct((lane) => correctedLane(lane, aheadMs, now));
    },
    resume(expectedAt, now) {
      health = healthAfterGap(health, expectedAt, now);
    },
    inFlight: () => flying.size,
    hasRoom: live.hasRoom,
    isPaused: (now) => now < health.pausedUntil,
    health: () => health,
    releasedAt: () => releasedAt,
    nextDueAt(now) {
      if (now < health.pausedUntil) return health.pausedUntil;
      const due = [start.lanes.nextDueAt(), replay?.lanes.nextDueAt() ?? resumesAt].filter(
        (at) => at !== null,
      );
      return due.length === 0 ? null : Math.min(...due);
    },
  };
}

// Failed more than once: if the filing is among those that failed with no success between, the endpoint may
// be to blame.
function isDoubted(lane: Lane | undefined): lane is Lane {
  return lane !== undefined && lane.tried > 1;
}

// First tries, retries, replays; but every so often what comes last comes first, so that it never waits for
// ever. Probes take turns: if all of them were the same poison event, a good endpoint would never be found.
function turnOrder(start: number, probe: boolean): readonly Kind[] {
  if (start % replaysEvery === 0 && !probe) return replayFirst;
  return start % (probe ? 2 : retriesEvery) === 0 ? retryFirst : usualOrder;
}

const usualOrder: readonly Kind[] = ['first', 'retry', 'replay'];
const retryFirst: readonly Kind[] = ['retry', 'first', 'replay'];
const replayFirst: readonly Kind[] = ['replay', 'first', 'retry'];
