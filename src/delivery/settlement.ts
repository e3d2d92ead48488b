import type { CallbackOutcome } from '../callbacks/outcome.ts';
import type { Sent } from '../callbacks/send-callback.ts';
import type { LogEntry } from '../events/event-log.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { buildDisabledEvent, buildFellBehindEvent } from './operational-events.ts';
import { disablingReason, goneReason, type EndpointHealth } from './schedule/endpoint-health.ts';
import { isPing } from './ping.ts';
import type { Lane } from './schedule/lanes.ts';
import type { Work } from './schedule/track.ts';
import type { Answer } from './schedule/window.ts';
import {
  nextAttemptAfter,
  verdictOn,
  verdictOnUnsent,
  type Verdict,
  type VerdictRules,
} from './schedule/verdict.ts';
import {
  toAttempt,
  toDeadLetter,
  toExpiredLetter,
  type Attempt,
  type DeadLetter,
} from './store/delivery-records.ts';
import type { Unmade } from './sources/source.ts';
import type { SubscriptionSettlement } from './store/settlement-text.ts';

/** One attempt in full, for logs and metrics. */
export interface AttemptReport {
  readonly subscription: Subscription;
  readonly entry: LogEntry;
  readonly attempt: Attempt;
  readonly sent: Sent;
  readonly deadLetter: boolean;
  /** The next retry, in milliseconds on Redis's clock. Null if there is none. */
  readonly nextAttemptAt: number | null;
}

/** A callback that was sent, with the subscription as it was then. */
interface SentResult {
  readonly kind: 'sent';
  readonly work: Work;
  readonly entry: LogEntry;
  readonly sent: Sent;
  readonly subscription: Subscription;
  /** Id of the dead letter that its delivery makes up for; missing without one. */
  readonly letter?: string | undefined;
  /** The events that waited, if it was sent to ask a disabled endpoint and was accepted. */
  readonly waited?: Waited;
}

/** Numbers of events that a disabled endpoint has not got. */
export interface Waited {
  /** Events that it gets now, the one that it has accepted included. */
  readonly waiting: number;
  /** Events in lanes that are no longer in the log. */
  readonly lost: number;
}

/** An event that was started and not sent. */
type UnsentResult = Unmade & { readonly work: Work };

/** The result of an event in flight. */
export type SendResult = SentResult | UnsentResult;

/** The state from which a batch of results is judged. */
export interface BatchState {
  readonly health: EndpointHealth;
  readonly rules: VerdictRules;
  /** The lane of an event in flight; undefined on its first attempt. */
  readonly laneOf: (work: Work) => Lane | undefined;
  /** Id of the current replay. Null if there is none. */
  readonly replay: string | null;
  /** Milliseconds without any success after which a failure disables the subscription. */
  readonly disableAfterMs: number;
}

/** The consequences of one result. */
export interface ResultOfOne {
  readonly work: Work;
  readonly verdict: Verdict;
  readonly report: AttemptReport | null;
  readonly deadLetter: DeadLetter | null;
  /** Id of a dead letter whose event a replay has delivered. */
  readonly recovered: string | null;
}

/** Decides the consequences of results, each after those before it. Changes nothing. */
export function concludeBatch(results: readonly SendResult[], state: BatchState, now: number) {
  const verdicts: ResultOfOne[] = [];
  const judged: CallbackOutcome[] = [];
  const replayed = { delivered: 0, failed: 0 };
  let { health } = state;
  for (const result of results) {
    const one =
      result.kind === 'sent' ? concludeSent(result, health, state, now) : concludeUnsent(result, health, now);
    const { report, verdict, work } = one;
    ({ health } = verdict);
    verdicts.push(one);
    if (report === null) continue;
    if (verdict.judged) judged.push(report.sent.outcome);
    if (work.replay === null || work.replay !== state.replay) continue;
    if (verdict.fate === 'done') replayed.delivered += 1;
    if (verdict.fate === 'given_up') replayed.failed += 1;
  }
  const reason = disablingReason(judged, health, now, state.disableAfterMs);
  const reports = verdicts.flatMap(({ report }) => report ?? []);
  return {
    /** The endpoint's health after all results. */
    health,
    /** The verdicts for the scheduler, in the order of the results. */
    verdicts: verdicts as readonly Pick<ResultOfOne, 'work' | 'verdict'>[],
    /** The counts for the current replay. */
    replayed,
    // A disabled subscription has no next retry.
    reports: reason === null ? reports : reports.map((report) => ({ ...report, nextAttemptAt: null })),
    deadLetters: verdicts.flatMap(({ deadLetter }) => deadLetter ?? []),
    recovered: verdicts.flatMap((one) => one.recovered ?? []),
    /** Why the subscription is to be disabled, or null. */
    disablingReason: reason,
  };
}

function concludeSent(
  { work, entry, sent, subscription, letter }: SentResult,
  health: EndpointHealth,
  { rules, laneOf }: BatchState,
  now: number,
): ResultOfOne {
  const lane = laneOf(work);
  const judged = verdictOn(work, sent.outcome, { health, lane }, rules, now);
  // A `ping` is never repeated.
  const verdict: Verdict = isPing(entry) ? { ...judged, fate: 'done' } : judged;
  const nextAttemptAt = nextAttemptAfter(verdict, work, lane);
  const attempt = toAttempt(work, entry, { sent, called: subscription }, now, work.replay);
  const isDead = verdict.fate === 'given_up' && work.replay === null;
  const deadLetter = isDead ? toDeadLetter(entry, work.attempt, sent.outcome.code, now) : null;
  return {
    work,
    verdict,
    report: { subscription, entry, attempt, sent, deadLetter: deadLetter !== null, nextAttemptAt },
    deadLetter,
    recovered: verdict.fate === 'done' ? (letter ?? null) : null,
  };
}

function concludeUnsent(result: UnsentResult, health: EndpointHealth, now: number): ResultOfOne {
  const { work, kind } = result;
  const { position, filingId, attempt, replay } = work;
  const isLost = kind === 'expired' && replay === null;
  const fate =
    kind === 'waits'
      ? ({ dueAt: result.until, charged: false, eventAtFault: false, unsent: true } as const)
      : 'done';
  return {
    work,
    verdict: verdictOnUnsent(fate, health),
    report: null,
    deadLetter: isLost ? toExpiredLetter({ position, filingId, attempts: attempt - 1 }, 1, now) : null,
    recovered: null,
  };
}

/** The operational events to append for a subscription: it fell behind, or is disabled under this version. */
export function operationalNotices(
  subscription: Subscription,
  version: number,
  deadLetters: readonly DeadLetter[],
  reason: string | null,
  at: number,
): Pick<SubscriptionSettlement, 'announced' | 'disabling'> {
  const expired = expiredOf(deadLetters);
  return {
    announced: expired.events === 0 ? null : { event: buildFellBehindEvent(subscription, expired, at), at },
    disabling:
      reason === null
        ? null
        : {
            reason,
            disabledAt: reason === goneReason ? 0 : at,
            event: buildDisabledEvent(subscription, reason, version, at),
            at,
          },
  };
}

/** The events that waited, if these results show that a disabled endpoint is back; null otherwise. */
export function waitedOf(results: readonly SendResult[], { round }: VerdictRules): Waited | null {
  for (const result of results)
    if (result.kind === 'sent' && result.work.round === round && result.waited !== undefined)
      return result.waited;
  return null;
}

/**
 * Number of events that retention removed before the subscription got them, and the position of the last
 * one.
 */
export function expiredOf(letters: readonly DeadLetter[]): { events: number; position: number } {
  let [events, position] = [0, 0];
  for (const letter of letters) {
    if (letter.lastOutcome !== 'expired') continue;
    events += letter.events;
    position = Math.max(position, letter.position);
  }
  return { events, position };
}

/** The evidence that results give of the endpoint's window. An event that was not sent says nothing. */
export function evidenceOf(results: readonly SendResult[]): Answer[] {
  const answers: Answer[] = [];
  for (const result of results) {
    const kind = result.kind === 'sent' ? kindOf(result.sent) : null;
    if (kind === null || result.kind !== 'sent') continue;
    answers.push({ kind, startedAt: result.work.startedAt, latencyMs: result.sent.durationMs });
  }
  return answers;
}

function kindOf({ outcome, statusCode }: Sent): Answer['kind'] | null {
  if (outcome.kind === 'delivered') return 'accepted';
  if (outcome.kind === 'aborted' || outcome.kind === 'held') return null;
  if (outcome.code === 'sender_error' || outcome.code === 'token_error') return null;
  if (statusCode === 429 || statusCode === 503) return 'overloaded';
  return outcome.code === 'timeout' ? 'timed_out' : 'failed';
}
