import type { CallbackSender } from '../../callbacks/send-callback.ts';
import type { EventLog } from '../../events/event-log.ts';
import { createSelection, type SelectionDeps } from '../../subscriptions/content-filter/selection.ts';
import { createCursor } from '../../subscriptions/cursor.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import type { DeliveryState, Subscription } from '../../subscriptions/subscription.ts';
import { evidenceOf } from '../evidence.ts';
import { createSend } from '../send-work.ts';
import { concludeBatch, expiredOf, operationalNotices } from '../settlement.ts';
import type { AttemptReport, SendResult } from '../settlement.ts';
import { healthOf, pauseAt } from '../schedule/endpoint-health.ts';
import { createLanes, type Lane } from '../schedule/lanes.ts';
import { createScheduler, type SchedulerRules } from '../schedule/scheduler.ts';
import { aheadMsOf } from '../schedule/stepped-clock.ts';
import { createLogSource, type Stretch } from '../sources/log.ts';
import { createReplays, type ReplaysDeps } from '../sources/replays.ts';
import type { Places } from '../window/places.ts';
import { createRate } from '../window/rate.ts';
import type { EndpointFields, ProgressFields, SubscriptionSettlement } from '../store/settlement-text.ts';

/** A subscription ready to be called. */
export interface ReadySubscription {
  readonly subscription: Subscription;
  readonly send: CallbackSender;
}

export interface QueueDeps
  extends SchedulerRules, SelectionDeps, Pick<ReplaysDeps, 'replays' | 'filings' | 'delivery'> {
  readonly account: string;
  readonly log: EventLog;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /** Maximum number of callbacks in flight. */
  readonly maxInFlight: number;
  readonly disableAfterMs: number;
  /** Receives the attempts that were written together, at least one. */
  readonly onAttempts: (reports: readonly AttemptReport[]) => void;
  /** Called after retention removed events before the subscription got them. */
  readonly onExpired: (subscription: Subscription, events: number) => void;
  /** Called after the subscription was disabled. */
  readonly onDisabled: (subscription: Subscription, reason: string) => void;
}

/** The subscription as it is stored, from which its queue starts. */
export interface QueueStart extends QueueSettings {
  readonly id: string;
  /** Every event up to this position is done. */
  readonly position: number;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly places: Places;
}

/** The settings of a subscription, which may change while its queue is open. */
export interface QueueSettings {
  readonly ready: ReadySubscription;
  readonly delivery: DeliveryState;
  /** Ids of the unfinished replays, oldest first. */
  readonly replays: readonly string[];
}

/** Why nothing is sent before a time, in milliseconds on Redis's clock. */
export interface NotBefore {
  readonly at: number;
  readonly reason: 'rate' | 'paused' | 'retry';
}

/** A settle of a queue that is being written. */
export interface PendingSettle {
  readonly settlement: Omit<SubscriptionSettlement, 'lags'>;
  /** The result is written; `hasDisabled` says whether it has disabled the subscription. */
  written(hasDisabled: boolean): void;
}

/**
 * The events on their way to one subscription: its cursor, lanes, sources, limiter and health. It reads and
 * writes nothing of Redis but replays. A filing never has two events in flight, and the next one starts
 * once the result of the one before is written.
 */
export interface SubscriptionQueue {
  /** The newest position of the log that it has taken. */
  readTo(): number;
  /** Every event up to this position is done. */
  position(): number;
  /** The same by what is written: a position that is done only by what is not, counts as open. */
  writtenTo(): number;
  subscription(): Subscription;
  /** Whether it takes more of the log now. */
  hasRoom(): boolean;
  /** Whether the events taken so far need all free places, so that none is left for a retry or a replay. */
  fillsPlaces(): boolean;
  /** Takes the entries behind `readTo` while there is room. */
  take(stretch: Stretch): void;
  hasReplays(): boolean;
  /** Reads on in the current replay; true when it took anything. */
  readReplay(): Promise<boolean>;
  /** Starts the next attempt that may start now; null when there is none. */
  start(): Promise<SendResult> | null;
  /** Whether another attempt may start now. */
  mayStart(): boolean;
  inFlight(): number;
  /** Whether anything is to be written beside results. */
  isDirty(): boolean;
  /** Puts results into effect and returns what is to be written of them. */
  settle(results: readonly SendResult[]): PendingSettle;
  /** Takes up changed settings. */
  follow(settings: QueueSettings): void;
  /** When an attempt may start next, and why not before; null when nothing waits for a time. */
  notBefore(): NotBefore | null;
  /** Passes over all positions up to this one: nothing of them is for the subscription. */
  skipTo(position: number): void;
  isExpired(): boolean;
  /** Number of lanes, also of the replay that is worked on. */
  lanes(): number;
  /** Gives back its places and returns the delivery state as it is now written. */
  close(): DeliveryState;
}

/** Opens the queue of a subscription with nothing in flight. */
export function createQueue(deps: QueueDeps, start: QueueStart): SubscriptionQueue {
  const { account, log, now, disableAfterMs } = deps;
  const { id, places, delivery } = start;
  const cursor = createCursor(start.position, delivery.done);
  const lanes = createLanes(start.lanes, delivery.releasedAt);
  const { releasedAt } = delivery;
  const scheduler = createScheduler(deps, { cursor, lanes, health: healthOf(delivery), releasedAt, places });
  const { laneOf } = scheduler;
  const rate = createRate(delivery.throttledUntil);
  let state = delivery;
  let inEffect = effectOf(start);
  let writtenTo = start.position;
  // As they were last written; null where that is not known.
  let written: { progress: ProgressFields; endpoint: EndpointFields | null } = {
    progress: delivery,
    endpoint: { obstacle: '', ...delivery },
  };
  let { settledAt } = delivery;
  let wasAheadMs = 0;
  let isDirty = false;
  let inFlight = 0;

  const selection = createSelection(deps, () => inEffect.subscription, delivery.undecided);
  const { wants } = selection;
  const live = createLogSource(
    { log, account, cursor, intake: scheduler.live, accepts: selection.accepts, now },
    start.position,
  );
  const replays = createReplays(
    {
      ...deps,
      subscription: id,
      scheduler,
      batch: Math.min(4 * deps.maxInFlight, 40),
      wants,
      isThrough: ({ position: at, filingId }) =>
        cursor.isDone(at) && lanes.get(filingId)?.positions.includes(at) !== true,
      hasRead: (position) => position <= live.readTo(),
      aheadMs: () => wasAheadMs,
    },
    start.replays,
  );
  const send = createSend({
    sourceOf: ({ track }) => (track === 'replay' ? replays.current()?.source : null) ?? live,
    wants,
    inEffect: () => inEffect,
  });

  if (delivery.release) retryNow();
  followClock(delivery.nextAttemptAt, now());
  if (pauseAt(scheduler.health(), now()) === 'impossible') retryNow();

  function effectOf({ ready, delivery: { enabled, version, endpointVersion } }: QueueSettings) {
    places.sendTo(ready.subscription, now());
    rate.follow(ready.subscription.rate ?? null);
    return { ...ready, enabled, version, endpointVersion };
  }

  function retryNow(): void {
    scheduler.retryNow(now());
    isDirty = true;
  }

  // Waits and verdicts follow the time that has passed, even if Redis's clock was set since the last look.
  function followClock(expectedAt: number, at: number): void {
    const aheadMs = aheadMsOf(settledAt, at);
    if (aheadMs > 0) {
      scheduler.setBack(aheadMs, at);
      wasAheadMs = aheadMs;
      isDirty = true;
    } else if (expectedAt > 0) scheduler.resume(expectedAt, at);
    settledAt = at;
  }

  const mayCall = () => inEffect.enabled && !isExpired(inEffect.subscription, now());

  function progressNow(): ProgressFields {
    return {
      cursor: cursor.position(),
      done: cursor.done(),
      parked: lanes.parked(),
      snapshots: replays.snapshotsLeft(),
      undecided: selection.undecided(),
    };
  }

  function endpointNow(at: number): EndpointFields {
    return {
      ...scheduler.health(),
      throttledUntil: rate.nextAt(),
      nextAttemptAt: scheduler.nextDueAt(at) ?? 0,
      release: false,
      releasedAt: scheduler.releasedAt(),
      settledAt: at,
    };
  }

  // The fields that are not as they were last written.
  function removeChanges(at: number): Pick<SubscriptionSettlement, 'progress' | 'endpoint'> {
    const former = written;
    const endpoint = endpointNow(at);
    written = { progress: progressNow(), endpoint };
    return {
      progress: changedFields(written.progress, former.progress),
      endpoint: former.endpoint === null ? endpoint : changedFields(endpoint, former.endpoint),
    };
  }

  return {
    readTo: live.readTo,
    position: cursor.position,
    writtenTo: () => (isDirty ? writtenTo : cursor.position()),
    subscription: () => inEffect.subscription,
    hasRoom: () => mayCall() && scheduler.live.hasRoom() && !scheduler.isPaused(now()),
    fillsPlaces: scheduler.live.fillsPlaces,
    take(stretch) {
      if (live.take(stretch)) isDirty = true;
    },
    hasReplays: () => mayCall() && replays.hasAny(),
    async readReplay() {
      const hasRead = await replays.readOn();
      if (hasRead) isDirty = true;
      return hasRead;
    },
    start() {
      const at = now();
      if (!mayCall() || rate.inMs(at) > 0) return null;
      const work = scheduler.startNext(at);
      if (work === null) return null;
      rate.started(at);
      inFlight += 1;
      return send(work);
    },
    mayStart: () => mayCall() && rate.inMs(now()) === 0 && scheduler.startable(now()) > 0,
    inFlight: () => inFlight,
    isDirty: () => isDirty,
    settle(results) {
      const at = now();
      followClock(settledAt, at);
      places.answered(evidenceOf(results), at);
      const { retryMs } = inEffect.subscription;
      const usual = scheduler.verdictRules();
      const { nextState, writes, notices } = concludeBatch(
        results,
        {
          health: scheduler.health(),
          rules: retryMs == null ? usual : { ...usual, retryMs },
          laneOf,
          replayed: replays.current(),
          disableAfterMs,
        },
        at,
      );
      for (const { work, verdict } of nextState.verdicts) scheduler.settle(work, verdict, at);
      const { subscription, version, endpointVersion } = inEffect;
      const { attempts, recovered, disablingReason } = writes;
      const deadLetters = [...live.removeGivenUp(), ...writes.deadLetters];
      isDirty = false;
      writtenTo = cursor.position();
      const replay = replays.removeChanges(nextState.replayed);
      const noticed = operationalNotices(subscription, version, deadLetters, disablingReason, at);
      const settlement = {
        id,
        endpointVersion,
        ...removeChanges(at),
        lanes: lanes.removeChanges(),
        attempts,
        deadLetters,
        recovered,
        replay,
        ...noticed,
      };
      return {
        settlement,
        written(hasDisabled) {
          inFlight -= results.length;
          for (const { work } of results) scheduler.unblock(work);
          replays.written(replay);
          if (notices.length > 0) deps.onAttempts(notices);
          const { events } = expiredOf(deadLetters);
          if (events > 0) deps.onExpired(subscription, events);
          if (!hasDisabled || noticed.disabling === null) return;
          inEffect = { ...inEffect, enabled: false };
          deps.onDisabled(subscription, noticed.disabling.reason);
        },
      };
    },
    follow(changed) {
      inEffect = effectOf(changed);
      state = changed.delivery;
      // It may not have been written under the version before.
      written = { ...written, endpoint: null };
      if (replays.follow(changed.replays)) isDirty = true;
      if (changed.delivery.release) retryNow();
    },
    notBefore() {
      const at = now();
      if (!inEffect.enabled) return null;
      const inMs = rate.inMs(at);
      if (inMs > 0 && scheduler.startable(at) > 0) return { at: rate.nextAt(), reason: 'rate' };
      const dueAt = scheduler.nextDueAt(at);
      if (dueAt === null) return null;
      return { at: dueAt, reason: scheduler.isPaused(at) ? 'paused' : 'retry' };
    },
    skipTo: live.skipTo,
    isExpired: () => inEffect.enabled && isExpired(inEffect.subscription, now()),
    lanes: () => lanes.all().size + replays.lanes(),
    close() {
      places.close();
      const { snapshots, undecided, ...progress } = written.progress;
      return {
        ...state,
        ...progress,
        ...written.endpoint,
        enabled: inEffect.enabled,
        snapshots: snapshots ?? 0,
        undecided: undecided ?? '',
        replaying: replays.hasAny() ? 1 : 0,
      };
    },
  };
}

// The fields that are not as they were last written. Lists count by their items.
function changedFields<T extends object>(fields: T, former: T): Partial<T> {
  const changed: Partial<T> = {};
  for (const name in fields) if (!isSame(fields[name], former[name])) changed[name] = fields[name];
  return changed;
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => item === b[i]);
}
