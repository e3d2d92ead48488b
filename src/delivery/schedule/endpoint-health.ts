import { jitter } from '../../waiting/jitter.ts';
import { retryAfterMaxMs } from '../../waiting/retry-after.ts';
import type { CallbackOutcome } from '../../callbacks/outcome.ts';
import { neverFailed } from '../../subscriptions/subscription.ts';

/** The part of a subscription's delivery state that outcomes change. Times are milliseconds, 0 = none. */
export type EndpointHealth = Readonly<typeof neverFailed>;

/**
 * One attempt as evidence of the endpoint's health. `probe` is true when it was sent to find out whether a
 * down endpoint is back.
 */
export interface Evidence {
  readonly outcome: CallbackOutcome;
  readonly filingId: string;
  readonly probe: boolean;
  /** When it was sent, milliseconds. */
  readonly startedAt: number;
  /** True when the event fails although the endpoint works, see `isEventAtFault`. */
  readonly eventAtFault: boolean;
}

/** The rules by which pauses are made. */
export interface PauseRules {
  /**
   * The retry schedule, in milliseconds: its first delay comes before the first probe. Each failed probe
   * doubles that delay, up to five minutes.
   */
  readonly retryMs: readonly number[];
  /** Returns a number in [0, 1), which spreads the delays. */
  readonly random: () => number;
  /** Whether the subscription is disabled for failing, so that one probe an hour is sent; missing = false. */
  readonly isAsked?: boolean;
}

// Number of filings that fail in a row from which on the endpoint counts as down; fewer may fail by
// themselves.
const filingsOfDownEndpoint = 3;
/** Maximum milliseconds between two attempts at an endpoint that may be down. */
export const probeDelayMsMax = 5 * 60_000;
const probeSpread = { less: 0.2 };
// Milliseconds between two probes of an endpoint whose subscription is disabled for failing.
const askAgainMs = 60 * 60_000;
/** The reason of a subscription whose endpoint wants no more callbacks. */
export const goneReason = 'the endpoint answered 410 Gone';
// Maximum milliseconds of a pause, with a margin for corrections of the clock meanwhile.
const pauseMsMax = retryAfterMaxMs + 60_000;

/** The endpoint's health as part of a delivery state. */
export function healthOf(state: EndpointHealth): EndpointHealth {
  const names = Object.keys(neverFailed) as (keyof EndpointHealth)[];
  return Object.fromEntries(names.map((name) => [name, state[name]])) as EndpointHealth;
}

/** Health without any failure, as after everything was made due at once. */
export function healthyAgain({ lastSuccessAt }: EndpointHealth): EndpointHealth {
  return { ...neverFailed, lastSuccessAt };
}

/**
 * Whether callbacks are to wait now. A pause longer than the maximum was decided by a clock that was ahead:
 * it is `impossible`, and no callback waits for it.
 */
export function pauseAt(
  { pausedUntil: until }: Pick<EndpointHealth, 'pausedUntil'>,
  now: number,
): 'none' | 'pausing' | 'impossible' {
  if (until <= now) return 'none';
  return until > now + pauseMsMax ? 'impossible' : 'pausing';
}

/** Whether the endpoint counts as down. Then one probe at a time is sent, and failures cost no retries. */
export function isDown(health: EndpointHealth): boolean {
  return health.probes > 0;
}

/**
 * Whether an attempt failed for a reason outside the event: no part of it was sent, or the daemon is at
 * fault.
 */
export function isFaultElsewhere(outcome: CallbackOutcome): boolean {
  return outcome.kind === 'retry' && (!outcome.sent || outcome.code === 'sender_error');
}

/**
 * The endpoint's health after an attempt. Several filings that fail in a row pause the whole subscription,
 * and so does a second failure if nothing could be sent. Each failed probe doubles the pause; a success ends
 * it. `Retry-After` pauses the subscription for the time it names, even if callbacks in flight succeed
 * meanwhile.
 */
export function healthAfter(
  health: EndpointHealth,
  { outcome, filingId, probe, startedAt, eventAtFault }: Evidence,
  now: number,
  rules: PauseRules,
): EndpointHealth {
  if (outcome.kind === 'delivered') {
    const askedUntil = isDown(health) || health.pausedUntil <= now ? 0 : health.pausedUntil;
    const workedAt = Math.max(health.workedAt, startedAt);
    return { ...neverFailed, lastSuccessAt: now, workedAt, pausedUntil: askedUntil };
  }
  const failed: EndpointHealth = {
    ...health,
    failures: health.failures + 1,
    failedFilings: eventAtFault ? health.failedFilings : withFiling(health.failedFilings, filingId),
    failingSince: health.failingSince || now,
    obstacle: outcome.code === 'token_error' ? outcome.reason : '',
  };
  if (outcome.kind === 'slow_down') return pausedUntil(failed, now + outcome.retryAfterMs);
  const unreachable =
    health.failures > 0 && isFaultElsewhere(outcome) && !(eventAtFault && outcome.code === 'sender_error');
  const isAsked = rules.isAsked === true;
  const seemsDown = isAsked || unreachable || failed.failedFilings.length >= filingsOfDownEndpoint;
  const goesDown = !isDown(health) && seemsDown;
  if (!goesDown && !probe) return failed;
  const probes = health.probes + 1;
  if (isAsked) return askedLater({ ...failed, probes }, now);
  return pausedUntil({ ...failed, probes }, now + nextProbeMs(probes, rules.retryMs[0] ?? 0, rules.random));
}

/** The health of an endpoint that is disabled for failing: the next probe is sent in an hour. */
export function askedLater(health: EndpointHealth, now: number): EndpointHealth {
  return pausedUntil({ ...health, probes: Math.max(1, health.probes) }, now + askAgainMs);
}

/**
 * The reason to disable a subscription after these outcomes, or null. Outcomes without a failure never
 * disable it, nor does a failure of the daemon itself.
 */
export function disablingReason(
  outcomes: readonly CallbackOutcome[],
  { failingSince }: EndpointHealth,
  now: number,
  disableAfterMs: number,
): string | null {
  if (outcomes.some(({ kind }) => kind === 'gone')) return goneReason;
  const failed = outcomes.some(({ kind, code }) => kind !== 'delivered' && code !== 'sender_error');
  return failed && failingSince > 0 && now - failingSince >= disableAfterMs
    ? `no callback has succeeded since ${new Date(failingSince).toISOString()}`
    : null;
}

/** The health with a pause until then (milliseconds), or the longer one that it has. */
export function pausedUntil(health: EndpointHealth, until: number): EndpointHealth {
  return { ...health, pausedUntil: Math.max(health.pausedUntil, until) };
}

function withFiling(filings: readonly string[], filingId: string): readonly string[] {
  return filings.includes(filingId) ? filings : [...filings, filingId].slice(0, filingsOfDownEndpoint);
}

/**
 * Milliseconds to wait after a number of failed probes; up to a fifth less, so that the subscriptions of one
 * endpoint do not probe at the same time.
 */
export function nextProbeMs(probes: number, firstDelayMs: number, random: () => number): number {
  const delayMs = Math.min(firstDelayMs * 2 ** Math.min(probes - 1, 30), probeDelayMsMax);
  return jitter(delayMs, probeSpread, random);
}
