import { jitter } from '../../waiting/jitter.ts';
import { retryAfterMaxMs } from '../../waiting/retry-after.ts';
import type { CallbackOutcome } from '../../callbacks/outcome.ts';

/** The part of a subscription's delivery state that outcomes move. Times in milliseconds, 0 = none. */
export interface EndpointHealth {
  readonly failures: number;
  readonly failedFilings: readonly string[];
  readonly failingSince: number;
  readonly lastSuccessAt: number;
  /** When the newest callback that was accepted was sent: the endpoint worked then. */
  readonly workedAt: number;
  readonly pausedUntil: number;
  readonly probes: number;
}

/**
 * What one attempt says about the endpoint. `probe` is true when it was sent to find out whether a down
 * endpoint is back.
 */
export interface Evidence {
  readonly outcome: CallbackOutcome;
  readonly filingId: string;
  readonly probe: boolean;
  /** When it was sent, milliseconds. */
  readonly startedAt: number;
  /** The event is known to fail although the endpoint works, see `isProven`. */
  readonly proven: boolean;
}

export interface PauseRules {
  /** Before the first probe, in milliseconds; doubled for each one in vain, up to five minutes. */
  readonly firstDelayMs: number;
  /**
   * In [0, 1); shortens each delay by up to a fifth, so that the subscriptions of one endpoint do not probe
   * as one.
   */
  readonly random: () => number;
}

// Failures in a row that are about so many filings are the endpoint's doing; fewer may be those filings' own.
const filingsOfDownEndpoint = 3;
/** An endpoint that may be down is tried at least so often, in milliseconds. */
export const probeDelayMsMax = 5 * 60_000;
const probeSpread = { less: 0.2 };
// Milliseconds; the longest pause, and what clocks may be corrected by meanwhile.
const pauseMsMax = retryAfterMaxMs + 60_000;

/** The endpoint's health out of more; pure. */
export function healthOf(state: EndpointHealth): EndpointHealth {
  const {
    failures,
    failedFilings,
    failingSince,
    lastSuccessAt,
    workedAt,
    pausedUntil: until,
    probes,
  } = state;
  return { failures, failedFilings, failingSince, lastSuccessAt, workedAt, pausedUntil: until, probes };
}

/** Health of which nothing bad is known, as after a release; pure. */
export function healthyAgain(health: EndpointHealth): EndpointHealth {
  return {
    ...health,
    failures: 0,
    failedFilings: [],
    failingSince: 0,
    workedAt: 0,
    pausedUntil: 0,
    probes: 0,
  };
}

/**
 * Whether callbacks are to wait now; pure. A pause that ends later than any may last was decided by a clock
 * that was ahead: it is `impossible`, and nothing waits for it.
 */
export function pauseAt(
  { pausedUntil: until }: Pick<EndpointHealth, 'pausedUntil'>,
  now: number,
): 'none' | 'pausing' | 'impossible' {
  if (until <= now) return 'none';
  return until > now + pauseMsMax ? 'impossible' : 'pausing';
}

/**
 * Whether the endpoint counts as down: one probe at a time is sent, and failures cost no retry budget; pure.
 */
export function isDown(health: EndpointHealth): boolean {
  return health.probes > 0;
}

/**
 * Whether an attempt failed for a reason that cannot lie in the event: nothing of it was sent, or it is ours;
 * pure.
 */
export function isBlameless(outcome: CallbackOutcome): boolean {
  return outcome.kind === 'retry' && (!outcome.sent || outcome.code === 'sender_error');
}

/**
 * The endpoint's health after an attempt; pure. Several filings failing in a row pause the whole
 * subscription, and so does a failure after another one if nothing could be sent; each probe in vain doubles
 * the pause; a success ends that. `Retry-After` pauses it for as long as it says, also if callbacks that were
 * under way succeed meanwhile.
 */
export function healthAfter(
  health: EndpointHealth,
  { outcome, filingId, probe, startedAt, proven }: Evidence,
  now: number,
  rules: PauseRules,
): EndpointHealth {
  if (outcome.kind === 'delivered') {
    const askedUntil = isDown(health) || health.pausedUntil <= now ? 0 : health.pausedUntil;
    const workedAt = Math.max(health.workedAt, startedAt);
    return { ...healthyAgain(health), lastSuccessAt: now, workedAt, pausedUntil: askedUntil };
  }
  const failed: EndpointHealth = {
    ...health,
    failures: health.failures + 1,
    failedFilings: proven ? health.failedFilings : withFiling(health.failedFilings, filingId),
    failingSince: health.failingSince || now,
  };
  if (outcome.kind === 'slow_down') return pausedUntil(failed, now + outcome.retryAfterMs);
  const unreachable =
    health.failures > 0 && isBlameless(outcome) && !(proven && outcome.code === 'sender_error');
  const goesDown = !isDown(health) && (unreachable || failed.failedFilings.length >= filingsOfDownEndpoint);
  if (!goesDown && !probe) return failed;
  const probes = health.probes + 1;
  return pausedUntil({ ...failed, probes }, now + nextProbeMs(probes, rules));
}

/**
 * Why a subscription is to be disabled after this, or null; pure. An endpoint that failed only in the past is
 * not judged again.
 */
export function disablingReason(
  outcomes: readonly CallbackOutcome[],
  { failingSince }: EndpointHealth,
  now: number,
  disableAfterMs: number,
): string | null {
  if (outcomes.some(({ kind }) => kind === 'gone')) return 'the endpoint answered 410 Gone';
  const failed = outcomes.some(({ kind }) => kind !== 'delivered');
  return failed && failingSince > 0 && now - failingSince >= disableAfterMs
    ? `no callback has succeeded since ${new Date(failingSince).toISOString()}`
    : null;
}

function pausedUntil(health: EndpointHealth, until: number): EndpointHealth {
  return { ...health, pausedUntil: Math.max(health.pausedUntil, until) };
}

function withFiling(filings: readonly string[], filingId: string): readonly string[] {
  return filings.includes(filingId) ? filings : [...filings, filingId].slice(0, filingsOfDownEndpoint);
}

/** How long to wait after so many probes in vain; pure. */
export function nextProbeMs(probes: number, { firstDelayMs, random }: PauseRules): number {
  const delayMs = Math.min(firstDelayMs * 2 ** Math.min(probes - 1, 30), probeDelayMsMax);
  return jitter(delayMs, probeSpread, random);
}
