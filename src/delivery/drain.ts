import type { EventLog, LogEntry } from '../events/event-log.ts';
import { matchesEvent } from '../subscriptions/matches-event.ts';
import type { DeliveryState, Subscription } from '../subscriptions/subscription.ts';
import type { Attempt, Claim, DeadLetter, DeliveryStore } from './delivery-store.ts';
import { createDrainWindow, type DrainWindow, type Work } from './drain-window.ts';
import { createProgress } from './progress.ts';
import type { CallbackSender, Sent } from './send-callback.ts';

/** A drain's end: when the subscription wants to be drained again (milliseconds), or null when nothing is left to do. */
export interface DrainResult {
  readonly wakeAt: number | null;
}

/** One attempt with everything about it, for logs and metrics. */
export interface AttemptReport {
  readonly subscription: Subscription;
  readonly entry: LogEntry;
  readonly attempt: Attempt;
  readonly sent: Sent;
  readonly deadLetter: boolean;
}

export interface DrainDeps {
  readonly store: DeliveryStore;
  readonly log: EventLog;
  /** The subscription and a sender for it, from settings as stored; equal settings give the same sender. */
  readonly open: (
    account: string,
    id: string,
    settings: string,
  ) => { subscription: Subscription; send: CallbackSender };
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly random: () => number;
  readonly retryMs: readonly number[];
  readonly maxInFlight: number;
  readonly disableAfterMs: number;
  readonly onAttempt: (report: AttemptReport) => void;
  /** Called before the subscription is disabled, so that the event about it cannot be lost. */
  readonly onDisabling: (subscription: Subscription, reason: string, occasion: number) => Promise<void>;
  /** True when other subscriptions wait for this worker's place. */
  readonly othersWait: () => boolean;
}

const readAheadMax = 1000;
const readBatch = 100;
const timeSliceMs = 5_000;
// While callbacks are under way, events that came meanwhile are looked for this often.
const rereadMs = 250;

/** Why a drain starts nothing more. `changed`: the subscription's settings are no longer those it began with. */
type Stop = 'fenced' | 'disabled' | 'changed' | 'slice_over' | 'shutdown';

interface Finished {
  readonly work: Work;
  /** Null when a lane's event is no longer in the log. */
  readonly result: { readonly entry: LogEntry; readonly sent: Sent } | null;
}

/**
 * Delivers what a subscription has not got yet: first tries from the log after its cursor, and lanes that are due. Each
 * outcome is written before its filing's next event goes. Ends when nothing can be sent now, when its time slice is
 * over and others wait, or when the signal aborts; what is in flight is finished first. Two drains of one subscription
 * at once are harmless: the earlier one's writes are refused and it stops. Rejects when Redis fails; what was in flight
 * is then sent again by the next drain, under the same ids.
 */
export async function drainSubscription(
  deps: DrainDeps,
  account: string,
  id: string,
  signal: AbortSignal,
): Promise<DrainResult> {
  const claim = await deps.store.claim(account, id);
  if (claim === null || !claim.delivery.enabled) return { wakeAt: null };
  const drain = createDrain(deps, account, id, claim);
  let stop: Stop | null = null;
  for (;;) {
    stop ??= signal.aborted ? 'shutdown' : drain.sliceIsOver() && deps.othersWait() ? 'slice_over' : null;
    const read = stop === null ? await drain.readLog() : 0;
    if (stop === null) drain.startAll();
    if (read === 0 && drain.isIdle()) break;
    if (read === 0) await drain.waitForResult();
    stop = (await drain.settleResults()) ?? stop;
  }
  return { wakeAt: await drain.finish(stop) };
}

interface Drain {
  sliceIsOver(): boolean;
  /** Takes in the next entries of the log if there is room for them; returns how many there were. */
  readLog(): Promise<number>;
  /** Sends all that may be sent now. */
  startAll(): void;
  /** Nothing is under way and no result waits to be written. */
  isIdle(): boolean;
  /** Resolves at the next result, or when it is time to look at the log again. */
  waitForResult(): Promise<void>;
  /** Writes the results so far; tells when the drain has to stop for what came back. */
  settleResults(): Promise<Stop | null>;
  /** Writes what is left and tells when to drain again. */
  finish(stop: Stop | null): Promise<number | null>;
}

function createDrain(deps: DrainDeps, account: string, id: string, claim: Claim): Drain {
  const { delivery } = claim;
  const { subscription, send } = deps.open(account, id, claim.settings);
  const progress = createProgress(delivery.cursor, delivery.done);
  const window = createDrainWindow(deps, progress, claim.lanes, delivery);
  if (delivery.release) window.release(deps.now());

  const startedAt = deps.now();
  const finished: Finished[] = [];
  let readTo = delivery.cursor;
  let caughtUpAt = 0;
  let failure: { readonly error: unknown } | null = null;
  let notify = () => {};

  async function run(work: Work): Promise<void> {
    const entry = work.entry ?? (await deps.log.readAt(account, [work.position]))[0] ?? null;
    finished.push({ work, result: entry === null ? null : { entry, sent: await send(entry) } });
  }

  async function settle(batch: readonly Finished[], ending: Partial<DeliveryState>): Promise<Stop | null> {
    const now = deps.now();
    const reports = batch.map((one) => settleOne(window, one, subscription, now));
    const reason = disablingReason(reports, window, now, deps.disableAfterMs);
    if (reason !== null) await deps.onDisabling(subscription, reason, delivery.epoch);
    const { state, lanes } = window.changes();
    const written = await deps.store.settle(account, id, delivery.epoch, {
      state: {
        ...state,
        nextAttemptAt: window.nextDueAt(now) ?? 0,
        ...(delivery.release ? { release: false } : {}),
        ...(reason === null ? {} : { enabled: false, disabledReason: reason }),
        ...ending,
      },
      lanes,
      attempts: reports.flatMap(({ report }) => report?.attempt ?? []),
      deadLetters: reports.flatMap(({ deadLetter }) => deadLetter ?? []),
    });
    if (written.kind === 'fenced') return 'fenced';
    for (const { work } of batch) window.free(work);
    for (const { report } of reports) if (report !== null) deps.onAttempt(report);
    if (!written.enabled) return 'disabled';
    return written.version === delivery.version ? null : 'changed';
  }

  return {
    sliceIsOver: () => deps.now() - startedAt > timeSliceMs,
    async readLog() {
      const room = window.waiting() < 2 * deps.maxInFlight && readTo - progress.cursor() < readAheadMax;
      const now = deps.now();
      const busy = window.inFlight() > 0;
      if (!room || now < delivery.pausedUntil || (busy && now - caughtUpAt < rereadMs)) return 0;
      const entries = await deps.log.readAfter(account, readTo, readBatch);
      if (entries.length < readBatch) caughtUpAt = now;
      for (const entry of entries) {
        if (entry.position > readTo + 1) progress.markRange(readTo + 1, entry.position - 1);
        readTo = entry.position;
        if (!progress.isDone(entry.position)) window.take(entry, matchesEvent(subscription, entry));
      }
      return entries.length;
    },
    startAll() {
      for (let work = window.next(deps.now()); work !== null; work = window.next(deps.now())) {
        run(work)
          .catch((error: unknown) => (failure = { error }))
          .finally(() => notify());
      }
    },
    isIdle: () => window.inFlight() === 0 && finished.length === 0,
    async waitForResult() {
      if (finished.length > 0 || failure !== null) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, rereadMs);
        notify = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    async settleResults() {
      if (failure !== null) throw failure.error;
      const batch = finished.splice(0);
      return batch.length > 0 || window.dirty() ? settle(batch, {}) : null;
    },
    async finish(stop) {
      if (stop === 'fenced' || stop === 'disabled') return null;
      const now = deps.now();
      if (stop !== null) return now;
      const dueAt = window.nextDueAt(now);
      if (window.dirty() || dueAt !== null || delivery.nextAttemptAt !== 0) await settle([], {});
      return dueAt;
    },
  };
}

interface Settled {
  readonly report: AttemptReport | null;
  readonly deadLetter: DeadLetter | null;
}

function settleOne(
  window: DrainWindow,
  { work, result }: Finished,
  subscription: Subscription,
  now: number,
): Settled {
  if (result === null) {
    window.drop(work, now);
    return { report: null, deadLetter: expired(work, now) };
  }
  const { entry, sent } = result;
  const deadLetter = window.settle(work, entry, sent, now);
  const attempt: Attempt = {
    eventId: entry.id,
    eventType: entry.type,
    filingId: entry.filingId,
    attempt: work.attempt,
    outcome: sent.outcome.code,
    statusCode: sent.statusCode,
    durationMs: sent.durationMs,
    response: sent.response,
    at: now,
  };
  return { report: { subscription, entry, attempt, sent, deadLetter: deadLetter !== null }, deadLetter };
}

// Retention has taken the event before it could be delivered: it is told as given up, not skipped in silence.
function expired({ position, filingId, attempt }: Work, now: number): DeadLetter {
  return {
    eventId: '',
    eventType: '',
    filingId,
    position,
    attempts: attempt - 1,
    lastOutcome: 'expired',
    at: now,
  };
}

function disablingReason(
  settled: readonly Settled[],
  window: DrainWindow,
  now: number,
  disableAfterMs: number,
): string | null {
  if (settled.some(({ report }) => report?.sent.outcome.kind === 'gone'))
    return 'the endpoint answered 410 Gone';
  const since = window.failingSince();
  return since > 0 && now - since >= disableAfterMs
    ? `no callback has succeeded since ${new Date(since).toISOString()}`
    : null;
}
