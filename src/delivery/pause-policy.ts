import type { CallbackOutcome } from './callback-outcome.ts';

/** The part of a subscription's delivery state that outcomes move. Times in milliseconds, 0 = none. */
export interface EndpointHealth {
  readonly failures: number;
  readonly failedFilings: readonly string[];
  readonly failingSince: number;
  readonly lastSuccessAt: number;
  readonly pausedUntil: number;
  readonly probes: number;
}

// Failures in a row that are about so many filings are the endpoint's doing; fewer may be those filings' own.
const filingsOfDownEndpoint = 3;
const probeDelayMsMax = 5 * 60_000;

/** The endpoint's health alone, out of anything that holds it; pure. */
export function endpointHealth(state: EndpointHealth): EndpointHealth {
  const { failures, failedFilings, failingSince, lastSuccessAt, pausedUntil, probes } = state;
  return { failures, failedFilings, failingSince, lastSuccessAt, pausedUntil, probes };
}

/** Whether the endpoint counts as down: one probe at a time is sent, and failures cost no retry budget; pure. */
export function isDown(health: EndpointHealth): boolean {
  return health.probes > 0;
}

/**
 * The endpoint's health after an attempt; pure. Several filings failing in a row pause the whole subscription, and
 * each probe in vain doubles the pause up to five minutes; `Retry-After` pauses it for as long as it says; a success
 * ends everything.
 */
export function healthAfter(
  health: EndpointHealth,
  attempt: { readonly outcome: CallbackOutcome; readonly filingId: string; readonly probe: boolean },
  now: number,
  firstDelayMs: number,
): EndpointHealth {
  const { outcome, filingId } = attempt;
  if (outcome.kind === 'delivered') {
    return { failures: 0, failedFilings: [], failingSince: 0, lastSuccessAt: now, pausedUntil: 0, probes: 0 };
  }
  const failed: EndpointHealth = {
    ...health,
    failures: health.failures + 1,
    failedFilings: withFiling(health.failedFilings, filingId),
    failingSince: health.failingSince || now,
  };
  if (outcome.kind === 'slow_down') {
    return { ...failed, pausedUntil: Math.max(health.pausedUntil, now + outcome.retryAfterMs) };
  }
  const goesDown = !isDown(health) && failed.failedFilings.length >= filingsOfDownEndpoint;
  if (!goesDown && !attempt.probe) return failed;
  const probes = health.probes + 1;
  return {
    ...failed,
    probes,
    pausedUntil: Math.max(health.pausedUntil, now + probeDelayMs(probes, firstDelayMs)),
  };
}

function withFiling(filings: readonly string[], filingId: string): readonly string[] {
  return filings.includes(filingId) ? filings : [...filings, filingId].slice(0, filingsOfDownEndpoint);
}

function probeDelayMs(probes: number, firstDelayMs: number): number {
  return Math.min(firstDelayMs * 2 ** Math.min(probes - 1, 30), Math.max(probeDelayMsMax, firstDelayMs));
}
