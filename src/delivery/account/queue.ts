import type { CallbackSender } from '../../callbacks/send-callback.ts';
import type { EventLog, LogEntry } from '../../events/event-log.ts';
import {
  createSelection,
  type Selection,
  type SelectionDeps,
} from '../../subscriptions/content-filter/selection.ts';
import { createCursor, type Cursor } from '../../subscriptions/cursor.ts';
import type { ReadLags } from '../../subscriptions/lag.ts';
import { isAskedAgain } from '../../subscriptions/options/auto-enable.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import type { DeliveryState, Subscription } from '../../subscriptions/subscription.ts';
import { buildRecoveredEvent, type Missed } from '../operational-events.ts';
import { makePing } from '../ping.ts';
import { concludeBatch, evidenceOf, expiredOf, operationalNotices, waitedOf } from '../settlement.ts';
import type { AttemptReport, SendResult, Waited } from '../settlement.ts';
import { healthOf, pauseAt } from '../schedule/endpoint-health.ts';
import { Lanes, type Lane } from '../schedule/lanes.ts';
import { SendScheduler, type SchedulerRules } from '../schedule/scheduler.ts';
import { aheadMsOf } from '../schedule/stepped-clock.ts';
import type { Work } from '../schedule/track.ts';
import { createLogSource, type LogSource, type Stretch } from '../sources/log.ts';
import { createReplays, type Replays, type ReplaysDeps } from '../sources/replays.ts';
import { Limiter, type SharedLimits } from '../schedule/limiter.ts';
import type { Settled } from '../store/account-store.ts';
import type { EndpointFields, ProgressFields, SubscriptionSettlement } from '../store/settlement-text.ts';
import type { NotBefore } from './members.ts';
import { createWrittenFields, type WrittenFields } from './written-fields.ts';

/** A subscription ready to be called. */
export interface ReadySubscription {
  readonly kind: 'ready';
  readonly subscription: Subscription;
  readonly send: CallbackSender;
}

export interface QueueDeps
  extends SchedulerRules, SelectionDeps, Pick<ReplaysDeps, 'replays' | 'filings' | 'journal'> {
  readonly log: EventLog;
  readonly lags: ReadLags;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /** Maximum number of callbacks in flight. */
  readonly maxInFlight: number;
  readonly limits: SharedLimits;
  readonly disableAfterMs: number;
  /** Receives the attempts that were written together, at least one. */
  readonly onAttempts: (reports: readonly AttemptReport[]) => void;
  /** Called after retention removed events before the subscription got them. */
  readonly onExpired: (subscription: Subscription, events: number) => void;
  /** Called after the subscription was disabled. */
  readonly onDisabled: (subscription: Subscription, reason: string) => void;
  /** Called after a subscription that was disabled for failing was enabled. */
  readonly onRecovered: (subscription: Subscription, missed: Missed) => void;
}

/** The subscription as it is stored, from which its queue starts. */
export interface QueueStart extends QueueSettings {
  readonly account: string;
  readonly id: string;
  /** Every event up to this position is done. */
  readonly position: number;
  readonly lanes: ReadonlyMap<string, Lane>;
}

/** The settings of a subscription, which may change while its queue is open. */
export interface QueueSettings {
  readonly ready: ReadySubscription;
  readonly delivery: DeliveryState;
  /** Ids of the unfinished replays, oldest first. */
  readonly replays: readonly string[];
}

/** A settle of a queue that is being written. */
export interface PendingSettle {
  readonly settlement: Omit<SubscriptionSettlement, 'lags'>;
  /** The result is written, and has led to this. */
  written(settled: Settled): void;
}

/**
 * The events on their way to one subscription: its cursor, lanes, sources, limiter and health. It reads and
 * writes nothing of Redis but replays. A filing never has two events in flight, and the next one starts
 * once the result of the one before is written. Nothing is in flight at first.
 */
export class SubscriptionQueue {
  readonly #deps: QueueDeps;
  readonly #account: string;
  readonly #id: string;
  readonly #cursor: Cursor;
  readonly #lanes: Lanes;
  readonly #limiter: Limiter;
  readonly #scheduler: SendScheduler;
  readonly #selection: Selection;
  readonly #live: LogSource;
  readonly #written: WrittenFields;
  // Null until there is a replay.
  #replays: Replays | null = null;
  // The settings by which attempts are made and judged.
  #ready: ReadySubscription;
  // As it was read, and enabled or disabled since.
  #state: DeliveryState;
  #writtenTo: number;
  #settledAt: number;
  // Milliseconds by which Redis's clock was ahead when the subscription was last settled.
  #wasAheadMs = 0;
  // Number of events that left the log while it is disabled for failing.
  #lost: number;
  #isDirty = false;
  #inFlight = 0;

  constructor(deps: QueueDeps, start: QueueStart) {
    const { account, id, position, delivery } = start;
    this.#deps = deps;
    this.#account = account;
    this.#id = id;
    this.#cursor = createCursor(position, delivery.done);
    this.#lanes = new Lanes(start.lanes, delivery.releasedAt);
    const limiter = new Limiter(deps.limits, `${account}/${id}`, delivery.throttledUntil, deps.now());
    this.#limiter = limiter;
    this.#scheduler = new SendScheduler(deps, {
      cursor: this.#cursor,
      lanes: this.#lanes,
      health: healthOf(delivery),
      releasedAt: delivery.releasedAt,
      limiter,
    });
    this.#selection = createSelection(deps, () => this.#ready.subscription, delivery.undecided);
    const { accepts } = this.#selection;
    const intake = this.#scheduler.live;
    this.#live = createLogSource({ ...deps, account, cursor: this.#cursor, intake, accepts }, position);
    this.#state = delivery;
    this.#ready = start.ready;
    limiter.follow(start.ready.subscription, deps.now());
    this.#writtenTo = position;
    this.#written = createWrittenFields(delivery);
    this.#settledAt = delivery.settledAt;
    this.#lost = delivery.lost;
    this.#followReplays(start.replays);
    if (delivery.release) this.#retryNow();
    this.#followClock(delivery.nextAttemptAt, deps.now());
    if (pauseAt(this.#scheduler.health(), deps.now()) === 'impossible') this.#retryNow();
  }

  /** The newest position of the log that it has taken. */
  readTo(): number {
    return this.#live.readTo();
  }

  /** Every event up to this position is done. */
  position(): number {
    return this.#cursor.position();
  }

  /** The same by what is written: a position that is done only by what is not, counts as open. */
  writtenTo(): number {
    return this.#isDirty ? this.#writtenTo : this.#cursor.position();
  }

  subscription(): Subscription {
    return this.#ready.subscription;
  }

  inFlight(): number {
    return this.#inFlight;
  }

  /** Whether anything is to be written beside results. */
  isDirty(): boolean {
    return this.#isDirty;
  }

  isExpired(): boolean {
    return this.#state.enabled && isExpired(this.#ready.subscription, this.#deps.now());
  }

  /** Number of lanes, also of the replay that is worked on. */
  lanes(): number {
    return this.#lanes.count() + (this.#replays?.lanes() ?? 0);
  }

  /** Whether it takes more of the log now. */
  hasRoom(): boolean {
    return this.#mayCall() && this.#scheduler.live.hasRoom() && !this.#scheduler.isPaused(this.#deps.now());
  }

  /** Whether the events taken so far need all free places, so that none is left for a retry or a replay. */
  fillsPlaces(): boolean {
    return this.#scheduler.live.fillsPlaces();
  }

  /** Takes the entries behind `readTo` while there is room. */
  take(stretch: Stretch): void {
    if (this.#live.take(stretch)) this.#isDirty = true;
  }

  /** Passes over all positions up to this one: nothing of them is for the subscription. */
  skipTo(position: number): void {
    this.#live.skipTo(position);
  }

  hasReplays(): boolean {
    return this.#mayCall() && this.#replays?.hasAny() === true;
  }

  /** Reads on in the current replay; true when it took anything. */
  async readReplay(): Promise<boolean> {
    const hasRead = (await this.#replays?.readOn()) === true;
    this.#isDirty ||= hasRead;
    return hasRead;
  }

  /** Starts the next attempt that may start now. Null if there is none. */
  start(): Promise<SendResult> | null {
    const work = this.#mayCall() ? this.#scheduler.startNext(this.#deps.now()) : null;
    if (work === null) return null;
    this.#inFlight += 1;
    // Most events are at hand, and nothing is waited for then.
    return work.entry !== null && work.replay === null ? this.#send(work, work.entry) : this.#prepare(work);
  }

  /** Sends a `ping` if a disabled endpoint is to be asked and no event waits. Null otherwise. */
  ask(): Promise<SendResult> | null {
    const at = this.#deps.now();
    if (this.#state.enabled || !this.#mayCall() || this.notBefore() !== null) return null;
    this.#inFlight += 1;
    const entry = makePing(this.#ready.subscription, at);
    return this.#post(this.#scheduler.startPing(entry, at), entry);
  }

  /** Whether another attempt may start now. */
  mayStart(): boolean {
    const at = this.#deps.now();
    return this.#mayCall() && this.#limiter.rate.inMs(at) === 0 && this.#scheduler.mayStart(at);
  }

  /** When the next attempt may start, and why not sooner. Null if nothing waits for a time. */
  notBefore(): NotBefore | null {
    const at = this.#deps.now();
    if (!this.#state.enabled && !this.#isAsked()) return null;
    const { rate } = this.#limiter;
    if (rate.inMs(at) > 0 && this.#scheduler.mayStart(at)) return { at: rate.nextAt(), reason: 'rate' };
    const dueAt = this.#scheduler.nextDueAt(at);
    if (dueAt === null) return null;
    return { at: dueAt, reason: this.#scheduler.isPaused(at) ? 'paused' : 'retry' };
  }

  /** Puts results into effect and returns what is to be written of them. */
  settle(results: readonly SendResult[]): PendingSettle {
    const at = this.#deps.now();
    const { subscription } = this.#ready;
    const { version, endpointVersion } = this.#state;
    this.#followClock(this.#settledAt, at);
    this.#limiter.answered(evidenceOf(results), at);
    const concluded = this.#conclude(results, at);
    for (const { work, verdict } of concluded.verdicts) this.#scheduler.settle(work, verdict, at);
    const { reports, recovered, disablingReason } = concluded;
    const deadLetters = [...this.#live.removeGivenUp(), ...concluded.deadLetters];
    this.#isDirty = false;
    this.#writtenTo = this.#cursor.position();
    const replay = this.#replays?.removeChanges(concluded.replayed) ?? null;
    const noticed = operationalNotices(subscription, version, deadLetters, disablingReason, at);
    const { disabledAt = 0 } = noticed.disabling ?? {};
    if (disabledAt > 0) this.#scheduler.askLater(at);
    const missed = this.#missed(results, expiredOf(deadLetters).events);
    const settlement = {
      id: this.#id,
      endpointVersion,
      ...this.#written.removeChanges(this.#progress(), this.#endpoint(at)),
      lanes: this.#lanes.removeChanges(),
      attempts: reports.map(({ attempt }) => attempt),
      deadLetters,
      recovered,
      replay,
      ...noticed,
      enabling: missed === null ? null : { event: buildRecoveredEvent(subscription, missed, at), at },
    };
    return {
      settlement,
      written: (settled) => {
        this.#inFlight -= results.length;
        for (const { work } of results) this.#scheduler.unblock(work);
        this.#replays?.written(replay);
        if (reports.length > 0) this.#deps.onAttempts(reports);
        const { events } = expiredOf(deadLetters);
        if (events > 0) this.#deps.onExpired(subscription, events);
        if (settled === 'now_disabled' && disablingReason !== null) {
          this.#state = { ...this.#state, enabled: false, disabledAt };
          this.#deps.onDisabled(subscription, disablingReason);
        }
        if (settled === 'now_enabled' && missed !== null) {
          this.#state = { ...this.#state, enabled: true, disabledAt: 0 };
          this.#deps.onRecovered(subscription, missed);
        }
      },
    };
  }

  /** Takes up changed settings. */
  follow(changed: QueueSettings): void {
    this.#ready = changed.ready;
    this.#state = changed.delivery;
    this.#limiter.follow(changed.ready.subscription, this.#deps.now());
    this.#lost = changed.delivery.lost;
    // It may not have been written under the version before.
    this.#written.forgetEndpoint();
    this.#followReplays(changed.replays);
    if (changed.delivery.release) this.#retryNow();
  }

  /** Gives back its places and returns the delivery state as it is now written. */
  close(): DeliveryState {
    this.#limiter.close();
    const replaying = this.#replays?.hasAny() === true ? 1 : 0;
    return { ...this.#written.over(this.#state), replaying };
  }

  #mayCall(): boolean {
    if (this.#state.enabled) return !this.isExpired();
    return this.#isAsked() && this.#inFlight === 0;
  }

  // Whether it is disabled for failing, and its endpoint is asked again: by one attempt at a time.
  #isAsked(): boolean {
    return isAskedAgain(this.#state, this.#ready.subscription, this.#deps.now());
  }

  #followReplays(ids: readonly string[]): void {
    if (ids.length > 0) this.#replays ??= this.#createReplays();
    if (this.#replays?.follow(ids) === true) this.#isDirty = true;
  }

  #createReplays(): Replays {
    const deps: ReplaysDeps = {
      ...this.#deps,
      account: this.#account,
      subscription: this.#id,
      scheduler: this.#scheduler,
      batch: Math.min(4 * this.#deps.maxInFlight, 40),
      wants: this.#selection.wants,
      isThrough: ({ position, filingId }) =>
        this.#cursor.isDone(position) && this.#lanes.get(filingId)?.positions.includes(position) !== true,
      hasRead: (position) => position <= this.#live.readTo(),
      aheadMs: () => this.#wasAheadMs,
    };
    return createReplays(deps);
  }

  #retryNow(): void {
    this.#scheduler.retryNow(this.#deps.now());
    this.#isDirty = true;
  }

  // Waits and verdicts follow the time that has passed, even if Redis's clock was set since the last look.
  #followClock(expectedAt: number, at: number): void {
    const aheadMs = aheadMsOf(this.#settledAt, at);
    if (aheadMs > 0) {
      this.#scheduler.setBack(aheadMs, at);
      this.#wasAheadMs = aheadMs;
      this.#isDirty = true;
    } else if (expectedAt > 0) this.#scheduler.resume(expectedAt, at);
    this.#settledAt = at;
  }

  async #prepare(work: Work): Promise<SendResult> {
    const source = (work.replay === null ? null : this.#replays?.current()?.source) ?? this.#live;
    const made = await source.make(work);
    if (made.kind !== 'made') return { ...made, work };
    const { entry, letter, isChosen = false } = made;
    return isChosen ? this.#post(work, entry, letter) : this.#send(work, entry, letter);
  }

  #send(work: Work, entry: LogEntry, letter?: string): Promise<SendResult> {
    if (!this.#selection.wants(entry)) return Promise.resolve({ kind: 'unwanted', work });
    return this.#post(work, entry, letter);
  }

  #post(work: Work, entry: LogEntry, letter?: string): Promise<SendResult> {
    const { subscription, send } = this.#ready;
    const { enabled } = this.#state;
    return send(entry, work.attempt).then(async (sent) => {
      const result = { kind: 'sent', work, entry, subscription, sent, letter } as const;
      if (enabled || sent.outcome.kind !== 'delivered') return result;
      return { ...result, waited: await this.#countWaiting() };
    });
  }

  async #countWaiting(): Promise<Waited> {
    const { log, lags } = this.#deps;
    const [oldest] = await log.outlineAfter(this.#account, 0, 1);
    const lost = this.#lanes.parkedBefore(oldest?.position ?? Infinity);
    const { snapshots, ...progress } = this.#progress();
    const delivery = { ...progress, snapshots: snapshots ?? 0, replaying: snapshots === null ? 0 : 1 };
    const [lag = 0] = await lags(this.#account, [{ filter: this.#ready.subscription, delivery }]);
    return { waiting: lag - lost, lost };
  }

  // Counts `expired` events that have left the log. Returns what the endpoint has missed if these results
  // show that it is back; null otherwise.
  #missed(results: readonly SendResult[], expired: number): Missed | null {
    const { disabledAt } = this.#state;
    if (disabledAt === 0) return null;
    this.#lost += expired;
    const waited = this.#isAsked() ? waitedOf(results, this.#scheduler.verdictRules()) : null;
    if (waited === null) return null;
    const lost = this.#lost + waited.lost;
    this.#lost = 0;
    return { disabledAt, waiting: waited.waiting, lost };
  }

  #conclude(results: readonly SendResult[], at: number) {
    const rules = this.#scheduler.verdictRules();
    const { retryMs = null } = this.#ready.subscription;
    const isAsked = this.#isAsked();
    const state = {
      health: this.#scheduler.health(),
      rules: { ...rules, retryMs: retryMs ?? rules.retryMs, isAsked },
      laneOf: (work: Work) => this.#scheduler.laneOf(work),
      replay: this.#replays?.current()?.id ?? null,
      disableAfterMs: isAsked ? Infinity : this.#deps.disableAfterMs,
    };
    return concludeBatch(results, state, at);
  }

  #progress(): ProgressFields {
    return {
      cursor: this.#cursor.position(),
      done: this.#cursor.done(),
      parked: this.#lanes.parked(),
      snapshots: this.#replays?.snapshotsLeft() ?? null,
      undecided: this.#selection.undecided(),
    };
  }

  #endpoint(at: number): EndpointFields {
    return {
      ...this.#scheduler.health(),
      throttledUntil: this.#limiter.rate.nextAt(),
      nextAttemptAt: this.#scheduler.nextDueAt(at) ?? 0,
      release: false,
      releasedAt: this.#scheduler.releasedAt(),
      settledAt: at,
      lost: this.#lost,
    };
  }
}
