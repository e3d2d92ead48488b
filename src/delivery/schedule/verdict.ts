import type { CallbackOutcome } from '../../callbacks/outcome.ts';
import { jitter } from '../../waiting/jitter.ts';
import {
  healthAfter,
  isDown,
  isFaultElsewhere,
  pausedUntil,
  probeDelayMsMax,
  type EndpointHealth,
  type PauseRules,
} from './endpoint-health.ts';
import { isEventAtFault, type Lane, type Wait } from './lanes.ts';
import type { Fate, Work } from './track.ts';

/** The facts known when a result arrives. */
export interface Situation {
  readonly health: EndpointHealth;
  /** The lane of the event's filing; undefined on a first attempt. */
  readonly lane: Lane | undefined;
}

/** The rules by which results are judged. */
export interface VerdictRules extends PauseRules {
  /** Number of times that everything was made due at once so far, see `Work`. */
  readonly round: number;
}

/** The consequences of a result for its event, the endpoint and the lanes. */
export interface Verdict {
  readonly fate: Fate;
  /** The endpoint's health after it. */
  readonly health: EndpointHealth;
  /** Whether it counts for or against the endpoint: not if everything was made due since it was sent. */
  readonly judged: boolean;
  /**
   * Lanes that need not wait much longer, because the endpoint works: those of these filings, or all of them.
   */
  readonly retryNow: 'all' | readonly string[];
}

const noFilings: readonly string[] = [];
const retrySpread = { less: 0.2, more: 0.2 };

/** Judges the result of a callback. */
export function verdictOn(
  { filingId, probe, startedAt, round }: Work,
  outcome: CallbackOutcome,
  { health: former, lane }: Situation,
  rules: VerdictRules,
  now: number,
): Verdict {
  if (outcome.kind === 'aborted') return verdictOnUnsent('undone', former);
  if (outcome.kind === 'held') return verdictOnHeld(outcome.retryAfterMs, former, now);
  const judged = round === rules.round;
  const eventAtFault = judged && isEventAtFault(lane, former.workedAt);
  const evidence = { outcome, filingId, probe, startedAt, eventAtFault };
  const health = judged ? healthAfter(former, evidence, now, rules) : former;
  if (outcome.kind === 'delivered') {
    const retryNow = !judged ? noFilings : isDown(former) ? 'all' : former.failedFilings;
    return { fate: 'done', health, judged, retryNow };
  }
  const endpointAtFault = isDown(former) || isDown(health) || isFaultElsewhere(outcome);
  const wait = judged
    ? waitAfter(outcome, endpointAtFault, lane, health, rules, now)
    : { dueAt: now, charged: false };
  const fate = wait === null ? 'given_up' : { ...wait, eventAtFault };
  return { fate, health, judged, retryNow: noFilings };
}

/** The verdict on an event that was not sent, or not to the end. It says nothing about the endpoint. */
export function verdictOnUnsent(fate: 'done' | 'undone' | Wait, health: EndpointHealth): Verdict {
  return { fate, health, judged: false, retryNow: noFilings };
}

// Every other event of the subscription would meet the same, so all of them pause.
function verdictOnHeld(retryAfterMs: number, health: EndpointHealth, now: number): Verdict {
  const dueAt = now + retryAfterMs;
  return verdictOnUnsent(
    { dueAt, charged: false, eventAtFault: false, unsent: true },
    pausedUntil(health, dueAt),
  );
}

/**
 * The event's next retry as decided now, in milliseconds. Null if there is none. A probe may come earlier,
 * and so may a retry once the endpoint works.
 */
export function nextAttemptAfter(
  { fate, health }: Verdict,
  { position }: Work,
  lane: Lane | undefined,
): number | null {
  if (fate === 'done' || fate === 'given_up') return null;
  const undone = lane?.positions[0] === position ? lane.dueAt : null;
  const dueAt = fate === 'undone' ? undone : fate.dueAt;
  return dueAt === null ? null : Math.max(dueAt, health.pausedUntil);
}

// The wait for the next retry, and whether it uses up one of the event's retries. Null if none is left.
function waitAfter(
  outcome: CallbackOutcome,
  endpointAtFault: boolean,
  lane: Lane | undefined,
  health: EndpointHealth,
  { retryMs, random }: VerdictRules,
  now: number,
): Pick<Wait, 'dueAt' | 'charged'> | null {
  if (outcome.kind === 'refused') return null;
  if (outcome.kind === 'gone') return { dueAt: now, charged: false };
  if (outcome.kind === 'slow_down') return { dueAt: health.pausedUntil, charged: false };
  if (endpointAtFault) return { dueAt: now + Math.min(retryMs[0] ?? 0, probeDelayMsMax), charged: false };
  const delayMs = nextAttemptMs(retryMs, (lane?.spent ?? 0) + 1, random);
  return delayMs === null ? null : { dueAt: now + delayMs, charged: true };
}

/**
 * Milliseconds to wait after a failed attempt. Null if the schedule is exhausted and the callback is given
 * up. `attempt` counts the failures so far, including this one, from 1. `random` returns a number in [0, 1)
 * and spreads each delay evenly over ±20 %.
 */
export function nextAttemptMs(
  scheduleMs: readonly number[],
  attempt: number,
  random: () => number,
): number | null {
  const delayMs = scheduleMs[attempt - 1];
  return delayMs === undefined ? null : jitter(delayMs, retrySpread, random);
}
