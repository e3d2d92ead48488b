import type { CallbackSender } from '../../callbacks/send-callback.ts';
import type { EventLog, LogEntry } from '../../events/event-log.ts';
import { createCursor } from '../../subscriptions/cursor.ts';
import {
  createSelection,
  judgeInTurns,
  type SelectionDeps,
} from '../../subscriptions/content-filter/selection.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { HeldSubscriptions } from '../held.ts';
import { createReplaySource, type ReplaySourceDeps } from '../replay/replay-source.ts';
import { healthOf, pauseAt } from '../schedule/endpoint-health.ts';
import { createScheduler, type SchedulerRules } from '../schedule/scheduler.ts';
import { aheadMsOf } from '../schedule/stepped-clock.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { Claim, CurrentSettings } from '../store/replies.ts';
import type { Settlement } from '../store/settle-arguments.ts';
import type { SubscriptionWaker } from '../wake.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import type { Places } from '../window/places.ts';
import { createRate } from '../window/rate.ts';
import { evidenceOf } from './evidence.ts';
import type { LanesOfDrain } from './lane-cache.ts';
import { createLogReader, entriesAtOnce } from './log-reader.ts';
import { createResultBatches } from './result-batches.ts';
import { createSend } from './send-work.ts';
import { concludeBatch, expiredOf, operationalNotices } from './settlement.ts';
import type { AttemptReport, BatchResult, SendResult } from './settlement.ts';
import { createStateChanges } from './state-changes.ts';

/** A subscription ready to be called. */
export interface ReadySubscription {
  readonly subscription: Subscription;
  readonly send: CallbackSender;
}

export interface SessionDeps
  extends SchedulerRules, SelectionDeps, Pick<ReplaySourceDeps, 'replays' | 'filings'> {
  /** Maximum number of callbacks in flight. */
  readonly maxInFlight: number;
  readonly store: DeliveryStore;
  readonly log: EventLog;
  /** Opens a subscription from its settings as stored. Equal settings give the same sender. */
  readonly open: (account: string, id: string, settings: string) => ReadySubscription;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly disableAfterMs: number;
  /**
   * When to drain again a subscription whose callbacks have to wait, see `HeldSubscriptions`; null if not.
   */
  readonly heldUntil?: HeldSubscriptions['heldUntil'];
  /** Whether this process drains other subscriptions of the account now. */
  readonly othersRead: (account: string) => boolean;
  /** Receives the attempts that were written together, at least one. */
  readonly onAttempts: (reports: readonly AttemptReport[]) => void;
  /** Called after retention removed events before the subscription got them. */
  readonly onExpired: (subscription: Subscription, events: number) => void;
  /** Called after the subscription was disabled. */
  readonly onDisabled: (subscription: Subscription, reason: string) => void;
  /** Wakes the subscriptions that asked for the operational events which this drain has appended. */
  readonly wakeMatching: SubscriptionWaker['wakeMatching'];
}

/** Why a drain starts no more attempts. */
export type Stop = 'fenced' | 'set_back' | 'disabled' | 'expired' | 'slice_over' | 'shutdown';

/** The steps of one drain; `drainSubscription` calls them in their order. */
export interface DrainSession {
  /** When to drain again because callbacks have to wait, in milliseconds; null when they may be sent. */
  heldUntil(): number | null;
  /** Whether there may be events to read, and room for them. */
  mayRead(): boolean;
  /** Whether the events read so far take all free places, so that none is left for a retry or a replay. */
  fillsPlaces(): boolean;
  /** Accepts the next events of the log and of replays while there is room. Returns a reason to stop. */
  readOn(): Promise<Stop | null>;
  /** Starts all attempts that may start now. Returns a reason to stop. */
  startAll(): Stop | null;
  /** Whether nothing is in flight and nothing waits to be written. */
  isIdle(): boolean;
  /**
   * Resolves when there are results to write, when the rate allows another attempt in `turnInMs` (null:
   * nothing waits for that), or when Redis is to be looked at again.
   */
  waitForResults(turnInMs: number | null): Promise<void>;
  /** Writes the results, or only looks; takes up changes by other processes. Returns a reason to stop. */
  settle(): Promise<Stop | null>;
  /** Milliseconds until the rate allows another attempt; null if nothing waits for that. */
  turnInMs(): number | null;
  /** Writes that no new event wakes the subscription until its rate allows another attempt. */
  rest(): Promise<Stop | null>;
  /** Whether that is written and has not changed since. */
  rests(): boolean;
  /** When to drain again, in milliseconds; null when nothing is left to do. */
  wakeAt(stop: Stop | null): number | null;
  /** Lanes and replay for the next drain, as last written; null when that write was refused. */
  leave(): LanesOfDrain | null;
  /** Resolves when nothing is in flight any more, whatever the results are. */
  untilSettled(): Promise<void>;
}

// Milliseconds after which a drain without results looks at Redis for new events and changed settings. Each
// look doubles them, because hundreds of hanging endpoints would keep Redis busy.
const firstLookMs = 250;
const lookMsMax = 1_000;
// Maximum number of reads of the log at once, so that results are not kept waiting.
const readsMax = 10;

/** Opens a session from its claim, with the lanes and the replay of an earlier drain, if any. */
export function openSession(
  deps: SessionDeps,
  account: string,
  id: string,
  claim: Claim,
  { lanes, replay }: Pick<LanesOfDrain, 'lanes' | 'replay'>,
  places: Places,
): DrainSession {
  const { log, now, disableAfterMs } = deps;
  const { epoch, timeline, releasedAt, cursor: position, done } = claim.delivery;
  const cursor = createCursor(position, done);
  const stored = { cursor, lanes, health: healthOf(claim.delivery), releasedAt };
  const scheduler = createScheduler(deps, { ...stored, places });
  const batches = createResultBatches<SendResult>();
  const rate = createRate(claim.delivery.throttledUntil);
  // Whether events wait for the rate alone.
  let waitsForRate = false;
  // Until when the subscription rests; 0 if it does not.
  let restsUntil = 0;
  let inEffect = effectOf(claim);
  let { settledAt } = claim.delivery;
  let settles = 0;
  let lost = false;
  // Whether the last write has disabled the subscription.
  let hasDisabled = false;
  // Whether accepted events, or lanes made due, are still to be written.
  let dirty = false;
  let wasAheadMs = 0;
  let lookMs = firstLookMs;
  const selection = createSelection(deps, () => inEffect.subscription, claim.delivery.undecided);
  const { wants } = selection;
  const isThrough = ({ position: at, filingId }: LogEntry) =>
    cursor.isDone(at) && lanes.get(filingId)?.positions.includes(at) !== true;
  const batch = entriesAtOnce(deps.maxInFlight);
  const othersRead = () => deps.othersRead(account);
  const reader = createLogReader(
    { log, account, scheduler, batch, now, othersRead, cursor, wants: selection.accepts },
    { position, timeline },
  );
  const replays = createReplaySource(
    {
      account,
      subscription: id,
      log,
      replays: deps.replays,
      delivery: deps.store,
      filings: deps.filings,
      scheduler,
      batch,
      now,
      wants,
      isThrough,
      hasRead: reader.hasRead,
      readTo: () => reader.known().position,
      aheadMs: () => wasAheadMs,
    },
    claim.replays,
    replay,
  );
  const send = createSend({ log, account, replay: replays.current, wants, inEffect: () => inEffect });
  const state = createStateChanges(cursor, lanes, scheduler, reader, {
    snapshotsLeft: replays.snapshotsLeft,
    undecided: selection.undecided,
    throttledUntil: rate.nextAt,
    restsUntil: () => restsUntil,
  });
  const { laneOf } = scheduler;

  if (claim.delivery.release) retryNow();
  followClock(claim.delivery.nextAttemptAt, now());
  if (pauseAt(scheduler.health(), now()) === 'impossible') retryNow();
  if (claim.head.position > position) {
    reader.accept({ ...claim.read, head: claim.head });
    dirty = true;
  }
  reader.headIs(claim.head);

  function effectOf({ settings, delivery: { version, endpointVersion } }: CurrentSettings) {
    const opened = deps.open(account, id, settings);
    places.sendTo(opened.subscription, now());
    rate.follow(opened.subscription.rate ?? null);
    restsUntil = 0;
    return { ...opened, version, endpointVersion };
  }

  function turnInMs(): number | null {
    return waitsForRate ? rate.inMs(now()) : null;
  }

  function retryNow(): void {
    scheduler.retryNow(now());
    dirty = true;
  }

  function takeUp(changed: CurrentSettings): void {
    inEffect = effectOf(changed);
    state.forgetEndpoint();
    if (replays.follow(changed.replays)) dirty = true;
    if (changed.delivery.release) retryNow();
  }

  // Waits and verdicts follow the time that has passed, even if Redis's clock was set since the last look.
  function followClock(expectedAt: number, at: number): void {
    const aheadMs = aheadMsOf(settledAt, at);
    if (aheadMs > 0) {
      scheduler.setBack(aheadMs, at);
      wasAheadMs = aheadMs;
      dirty = true;
    } else if (expectedAt > 0) scheduler.resume(expectedAt, at);
    settledAt = at;
  }

  async function readOn(): Promise<Stop | null> {
    for (let reads = 0; reads < readsMax && reader.mayRead(); reads += 1) {
      const stretch = await reader.read();
      await judgeInTurns(deps.judge, inEffect.subscription, stretch.entries);
      // A look follows each stretch newer than the last settle. So new settings apply to all events recorded
      // after they were confirmed, and no event read after Redis was set back is accepted.
      const stop = reader.isKnown(stretch) ? null : await write(null, now());
      if (stop !== null) return stop;
      reader.accept(stretch);
      dirty = true;
    }
    for (let reads = 0; reads < readsMax && (await replays.readOn()); reads += 1) dirty = true;
    return null;
  }

  async function settle(results: readonly SendResult[]): Promise<Stop | null> {
    const at = now();
    followClock(settledAt, at);
    const looksOnly = results.length === 0 && !dirty;
    lookMs = looksOnly ? Math.min(2 * lookMs, lookMsMax) : firstLookMs;
    if (looksOnly) return write(null, at);
    places.answered(evidenceOf(results), at);
    const { nextState, writes, notices } = conclude(results, at);
    for (const { work, verdict } of nextState.verdicts) scheduler.settle(work, verdict, at);
    const settlement = { ...settlementOf(writes, at), replay: replays.removeChanges(nextState.replayed) };
    dirty = false;
    const stop = await write(settlement, at);
    for (const result of results) scheduler.unblock(result.work);
    if (lost) return stop;
    replays.written(settlement.replay);
    await report(settlement, notices);
    return stop;
  }

  function conclude(results: readonly SendResult[], at: number): BatchResult {
    const replayed = replays.current();
    const { retryMs } = inEffect.subscription;
    const [health, usual] = [scheduler.health(), scheduler.verdictRules()];
    const rules = retryMs == null ? usual : { ...usual, retryMs };
    return concludeBatch(results, { health, rules, laneOf, replayed, disableAfterMs }, at);
  }

  function settlementOf(
    { attempts, recovered, ...writes }: BatchResult['writes'],
    at: number,
  ): Omit<Settlement, 'replay'> {
    const deadLetters = [...reader.removeGivenUp(), ...writes.deadLetters];
    const { subscription, version } = inEffect;
    return {
      ...state.remove(at),
      lanes: lanes.removeChanges(),
      attempts,
      deadLetters,
      recovered,
      ...operationalNotices(subscription, version, deadLetters, writes.disablingReason, at),
    };
  }

  // Writes a settlement, or only looks with null. Either way it takes up changes by other processes.
  async function write(settlement: Settlement | null, at: number): Promise<Stop | null> {
    const { version, endpointVersion } = inEffect;
    const [known, foundAt] = [reader.known(), reader.foundAt()];
    const drain = { epoch, settles, version, endpointVersion, known, foundAt };
    const result = await deps.store.settle(account, id, drain, settlement, at);
    lost = result.kind !== 'settled';
    if (result.kind !== 'settled') return result.kind;
    hasDisabled = result.disabled;
    if (settlement !== null) settles += 1;
    reader.headIs(result.head);
    // Judged by the settings of that moment: those that come now are for later events.
    if (cursor.markRange(known.position + 1, result.passed) > 0) dirty = true;
    if (result.changed !== null) takeUp(result.changed);
    return result.enabled ? null : 'disabled';
  }

  async function report(settlement: Settlement, notices: readonly AttemptReport[]): Promise<void> {
    const { deadLetters, announced } = settlement;
    const disabling = hasDisabled ? settlement.disabling : null;
    if (notices.length > 0) deps.onAttempts(notices);
    const { events } = expiredOf(deadLetters);
    if (events > 0) deps.onExpired(inEffect.subscription, events);
    if (disabling !== null) deps.onDisabled(inEffect.subscription, disabling.reason);
    const types = [announced, disabling].flatMap((notice) => notice?.event.type ?? []);
    const appended = types.map((type) => ({ type, state: '', status: '' }));
    if (appended.length > 0) await deps.wakeMatching(account, appended);
  }

  return {
    heldUntil: () => deps.heldUntil?.(account, id, inEffect.subscription.url) ?? null,
    fillsPlaces: scheduler.live.fillsPlaces,
    mayRead: () => replays.hasAny() || reader.mayRead(),
    readOn,
    startAll() {
      if (isExpired(inEffect.subscription, now())) return 'expired';
      while (rate.inMs(now()) === 0) {
        const work = scheduler.startNext(now());
        if (work === null) break;
        rate.started(now());
        batches.add(send(work));
      }
      waitsForRate = rate.inMs(now()) > 0 && scheduler.startable(now()) > 0;
      return null;
    },
    turnInMs,
    async rest() {
      restsUntil = rate.nextAt();
      dirty = true;
      return settle([]);
    },
    rests: () => restsUntil > 0,
    isIdle: () => batches.isEmpty() && (lost || !dirty),
    waitForResults: (inMs) => batches.waitForResult(Math.min(lookMs, Math.ceil(inMs ?? lookMs))),
    settle: () => settle(batches.collect()),
    wakeAt(stop) {
      // A change of the settings, or the later drain, goes on from there.
      if (stop === 'fenced' || stop === 'disabled' || stop === 'expired') return null;
      const inMs = stop === null || stop === 'slice_over' ? turnInMs() : null;
      if (inMs !== null) return now() + Math.ceil(inMs);
      return stop === null ? scheduler.nextDueAt(now()) : now();
    },
    leave: () => (lost ? null : { epoch, settles, lanes, replay: replays.leave() }),
    untilSettled: batches.untilSettled,
  };
}
