import type { EventLog, LogEntry } from '../../events/event-log.ts';
import { matchesEvent, type Matchable } from '../../subscriptions/matches-event.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import { accountFor, type AttemptReport, type Landed } from './settlement.ts';
import type {
  Claim,
  DeliveryStore,
  DrainFence,
  EndpointFields,
  ProgressFields,
  Settlement,
  Standing,
} from '../store/delivery-store.ts';
import type { DeadLetter } from '../store/delivery-records.ts';
import { createDrainWindow, type Work } from '../schedule/scheduler.ts';
import { createFieldChanges } from './field-changes.ts';
import { createFlights } from './result-batches.ts';
import type { LaneSet } from '../schedule/lane-set.ts';
import { createLogFeed } from './log-reader.ts';
import { disablingReason, healthOf, pauseAt } from '../schedule/endpoint-health.ts';
import { createCursor } from '../../subscriptions/cursor.ts';
import { createReplayFeed } from '../replay/replay-source.ts';
import type { OpenReplay } from '../replay/replay-run.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import type { CallbackSender } from '../../callbacks/send-callback.ts';
import { aheadMsOf } from '../schedule/stepped-clock.ts';
import { buildDisabledEvent, buildFellBehindEvent } from '../operational-events.ts';
import type { SubscriptionWaker } from '../wake.ts';

/** A subscription ready to be called. */
export interface Opened {
  readonly subscription: Subscription;
  readonly send: CallbackSender;
}

export interface DrainRunDeps {
  readonly store: DeliveryStore;
  readonly replays: Pick<ReplayStore, 'load' | 'state' | 'lanes'>;
  readonly log: EventLog;
  /** From settings as stored; equal settings give the same sender. */
  readonly open: (account: string, id: string, settings: string) => Opened;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly random: () => number;
  readonly retryMs: readonly number[];
  readonly maxInFlight: number;
  readonly disableAfterMs: number;
  readonly onAttempt: (report: AttemptReport) => void;
  /** Retention took events before the subscription got them. */
  readonly onExpired: (subscription: Subscription, events: number) => void;
  /** The subscription is disabled. */
  readonly onDisabled: (subscription: Subscription, reason: string) => void;
  /** Wakes the subscriptions that asked for the operational events which this drain has appended. */
  readonly wakeMatching: SubscriptionWaker['wakeMatching'];
}

/** Why a drain starts nothing more. */
export type Stop = 'fenced' | 'set_back' | 'disabled' | 'slice_over' | 'shutdown';

/** The steps of one drain; `drainSubscription` calls them in their order. */
export interface DrainRun {
  /**
   * Takes in what comes next in the log and in replays, as far as there is room for it. Says if the drain has
   * to stop instead.
   */
  readOn(): Promise<Stop | null>;
  /** Sends all that may be sent now. */
  startAll(): void;
  /** Nothing is in flight, and nothing waits to be written. */
  isIdle(): boolean;
  /** Resolves when there is something to write or it is time to look at Redis again. */
  waitForResults(): Promise<void>;
  /**
   * Writes the results so far, or looks, and takes up what others have changed. Tells if the drain has to
   * stop for that.
   */
  settle(): Promise<Stop | null>;
  /** When to drain again (milliseconds), null when nothing is left to do. */
  wakeAt(stop: Stop | null): number | null;
  /** This drain as its last write left it; null when its writes are not taken any more. */
  fence(): DrainFence | null;
  /** The replay that was worked on, for the next drain, once all is written; null when there is none. */
  replay(): OpenReplay | null;
  /** Resolves when nothing is in flight any more, whatever comes of it. */
  untilLanded(): Promise<void>;
}

/** Entries that a drain reads at a time. */
export function entriesAtOnce({ maxInFlight }: Pick<DrainRunDeps, 'maxInFlight'>): number {
  return 4 * maxInFlight;
}

// While callbacks are under way without a result, Redis is looked at for new events and changed settings:
// soon at first, then less often, for hundreds of hanging endpoints would otherwise keep it busy.
const firstLookMs = 250;
const lookMsMax = 1_000;

// What is read at once of the log, so that results are not kept waiting.
const readsMax = 10;

/**
 * Prepares a drain from what its claim returned, with the lanes as they were then, and the replay if an
 * earlier drain left it.
 */
export function createDrainRun(
  deps: DrainRunDeps,
  account: string,
  id: string,
  claim: Claim,
  { lanes, replay }: { readonly lanes: LaneSet; readonly replay: OpenReplay | null },
): DrainRun {
  const { now } = deps;
  const { epoch, cursor: position, timeline, done, releasedAt } = claim.delivery;
  const cursor = createCursor(position, done);
  const health = healthOf(claim.delivery);
  const window = createDrainWindow(deps, { cursor, lanes, health, releasedAt });
  const flights = createFlights<Landed>();
  const progressChanges = createFieldChanges<ProgressFields>();
  const endpointChanges = createFieldChanges<EndpointFields>();
  const wants = (entry: Matchable) => matchesEvent(opened.subscription, entry);
  const isThrough = ({ position, filingId }: LogEntry) =>
    cursor.isDone(position) && lanes.get(filingId)?.positions.includes(position) !== true;
  const reading = { log: deps.log, account, window, cursor, batch: entriesAtOnce(deps), now };
  const feed = createLogFeed({ ...reading, wants }, { position, timeline });
  const replays = createReplayFeed(
    {
      ...reading,
      replays: deps.replays,
      subscription: id,
      wants: (entry) => wants(entry) && isThrough(entry),
    },
    replay,
  );
  let opened: Opened;
  let version: number;
  let endpointVersion: number;
  let settles = 0;
  let lost = false;
  // Whether anything was taken in or released that is not written yet.
  let dirty = false;
  let lookMs = firstLookMs;

  let { settledAt } = claim.delivery;
  adopt(claim);
  followClock(claim.delivery.nextAttemptAt, now());
  if (pauseAt(window.health(), now()) === 'impossible') {
    window.release(now());
    dirty = true;
  }
  if (claim.head.position > position) {
    feed.takeIn({ ...claim.read, head: claim.head });
    dirty = true;
  }
  feed.headIs(claim.head);

  function adopt({ settings, delivery, replays: unfinished }: Standing): void {
    opened = deps.open(account, id, settings);
    ({ version, endpointVersion } = delivery);
    endpointChanges.forget();
    replays.set(unfinished);
    if (!delivery.release) return;
    window.release(now());
    dirty = true;
  }

  // Waits and judgements keep to the time that has passed, whatever Redis's clock has done since the last
  // look.
  function followClock(expectedAt: number, at: number): void {
    const aheadMs = aheadMsOf(settledAt, at);
    if (aheadMs > 0) {
      window.setBack(aheadMs, at);
      replays.setBack(aheadMs);
      dirty = true;
    } else if (expectedAt > 0) window.resume(expectedAt, at);
    settledAt = at;
  }

  async function land(work: Work): Promise<Landed> {
    const entry = work.entry ?? (await deps.log.readAt(account, [work.position])).entries[0] ?? null;
    if (entry === null) return { kind: 'expired', work };
    if (!wants(entry)) return { kind: 'unwanted', work };
    const { subscription, send } = opened;
    return { kind: 'sent', work, entry, subscription, sent: await send(entry) };
  }

  async function settle(landed: readonly Landed[]): Promise<Stop | null> {
    const at = now();
    followClock(settledAt, at);
    const looksOnly = landed.length === 0 && !dirty;
    lookMs = looksOnly ? Math.min(2 * lookMs, lookMsMax) : firstLookMs;
    if (looksOnly) return write(null, at);
    const { settlement, reports } = settlementOf(landed, at);
    dirty = false;
    const stop = await write(settlement, at);
    for (const { work } of landed) window.free(work);
    if (lost) return stop;
    replays.written(settlement.replay);
    await tell(settlement, reports);
    return stop;
  }

  // Takes up what others have changed, too. Null only looks.
  async function write(settlement: Settlement | null, at: number): Promise<Stop | null> {
    const drain = { epoch, settles, version, endpointVersion, known: feed.known(), foundAt: feed.foundAt() };
    const written = await deps.store.settle(account, id, drain, settlement, at);
    lost = written.kind !== 'settled';
    if (written.kind !== 'settled') return written.kind;
    if (settlement !== null) settles += 1;
    feed.headIs(written.head);
    if (written.changed !== null) adopt(written.changed);
    return written.enabled ? null : 'disabled';
  }

  async function readOn(): Promise<Stop | null> {
    for (let reads = 0; reads < readsMax && feed.mayRead(); reads += 1) {
      // Where to read next depends on what was read.
      // oxlint-disable-next-line no-await-in-loop
      const read = await feed.read();
      // What is recorded after a change of the settings was answered is judged by the new ones, and what is read after Redis was set back is not
      // taken in: so whatever is newer than the last settle is followed by a look.
      // oxlint-disable-next-line no-await-in-loop
      const stop = feed.isKnown(read) ? null : await write(null, now());
      if (stop !== null) return stop;
      feed.takeIn(read);
      dirty = true;
    }
    // Where one depends on the one before.
    // oxlint-disable-next-line no-await-in-loop
    for (let reads = 0; reads < readsMax && (await replays.readOn()); reads += 1) dirty = true;
    return null;
  }

  function settlementOf(landed: readonly Landed[], at: number) {
    const accounted = accountFor(landed, window, replays, at);
    const reason = disablingReason(accounted.judged, window.health(), at, deps.disableAfterMs);
    const deadLetters = [...feed.takeExpired(), ...accounted.deadLetters];
    const expired = expiredOf(deadLetters);
    const settlement: Settlement = {
      progress: progressChanges.since({
        cursor: cursor.position(),
        timeline: feed.timelineOf(cursor.position()),
        done: cursor.done(),
        parked: lanes.parked(),
      }),
      endpoint: endpointChanges.since({
        ...window.health(),
        nextAttemptAt: window.nextDueAt(at) ?? 0,
        release: false,
        releasedAt: window.releasedAt(),
        settledAt: at,
      }),
      lanes: lanes.changes(),
      attempts: accounted.reports.map(({ attempt }) => attempt),
      deadLetters,
      recovered: accounted.recovered,
      replay: replays.changes(),
      announced:
        expired.events === 0 ? null : { event: buildFellBehindEvent(opened.subscription, expired, at), at },
      disabling:
        reason === null
          ? null
          : { reason, event: buildDisabledEvent(opened.subscription, reason, version, at), at },
    };
    return { settlement, reports: accounted.reports };
  }

  async function tell(settlement: Settlement, reports: readonly AttemptReport[]): Promise<void> {
    // A subscription that is disabled tries nothing again.
    const disabled = settlement.disabling === null ? {} : { nextAttemptAt: null };
    for (const report of reports) deps.onAttempt({ ...report, ...disabled });
    const { events } = expiredOf(settlement.deadLetters);
    if (events > 0) deps.onExpired(opened.subscription, events);
    if (settlement.disabling !== null) deps.onDisabled(opened.subscription, settlement.disabling.reason);
    const appended = [settlement.announced, settlement.disabling].filter((each) => each !== null);
    if (appended.length === 0) return;
    await deps.wakeMatching(
      account,
      appended.map(({ event }) => ({ type: event.type, state: '' })),
    );
  }

  return {
    readOn,
    startAll() {
      for (let work = window.next(now()); work !== null; work = window.next(now()))
        flights.launch(land(work));
    },
    isIdle: () => flights.areOver() && (lost || !dirty),
    waitForResults: () => flights.waitForResult(lookMs),
    settle: () => settle(flights.collect()),
    wakeAt: (stop) =>
      stop === 'fenced' || stop === 'disabled' ? null : stop === null ? window.nextDueAt(now()) : now(),
    fence: () => (lost ? null : { epoch, settles }),
    replay: replays.leave,
    untilLanded: flights.untilLanded,
  };
}

// How many events retention has taken, and the last of them.
function expiredOf(letters: readonly DeadLetter[]): { events: number; position: number } {
  const expired = letters.filter(({ lastOutcome }) => lastOutcome === 'expired');
  return {
    events: expired.reduce((sum, { events }) => sum + events, 0),
    position: Math.max(0, ...expired.map(({ position }) => position)),
  };
}
