import { errorBody } from '../errors.ts';
import { type Endpoint } from '../server/endpoints.ts';
import { type Faults, type ListFaults } from './faults-schema.ts';
import { pick, wholeNumber, type Random } from '../random.ts';

/**
 * The fate of one request: first the latency, then the outcome. With `none`, `cut` and `drip` it is handled.
 */
export interface FaultPlan {
  readonly latencyMs: number;
  readonly outcome: FaultOutcome;
  /** The distortion of the page, for requests of a list. */
  readonly list: ListFaults;
}

export type FaultOutcome =
  | { readonly kind: 'none' }
  /** Exactly this instead of the response. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** Never answered; ends when the connection does. */
  | { readonly kind: 'hang' }
  /**
   * The first half of the response; then the connection is gone (`connection`) or the body simply ends
   * (`json`).
   */
  | { readonly kind: 'cut'; readonly how: 'connection' | 'json' }
  /** The whole response at this rate. */
  | { readonly kind: 'drip'; readonly bytesPerSecond: number };

/** The properties of a request that decide its fate, besides chance. */
export interface RequestFacts {
  readonly endpoint: Endpoint;
  /** Undefined for a request without a valid key. */
  readonly owner: string | undefined;
}

/** Nothing happens. */
export const noFault: FaultPlan = { latencyMs: 0, outcome: { kind: 'none' }, list: {} };

const defaultErrorStatuses = [500, 502, 503];
const defaultWindowMs = 1_000;

/** Whether the faults apply to such a request, before `after` and `times` are counted. */
export function faultsConcern(faults: Faults, { endpoint, owner }: RequestFacts): boolean {
  if (faults.endpoints !== undefined && !faults.endpoints.includes(endpoint)) return false;
  return faults.owners === undefined || (owner !== undefined && faults.owners.includes(owner));
}

/**
 * Whether the n-th request (from 1) that the faults concern is hit: `after` are spared first, then `times`
 * are hit.
 */
export function faultsHit(faults: Faults, n: number): boolean {
  const after = faults.after ?? 0;
  return n > after && (faults.times === undefined || n <= after + faults.times);
}

/** The fate of a request that is hit. `retryAfter` is set when the rate limit was exceeded. */
export function planFault(faults: Faults, retryAfter: string | undefined, random: Random): FaultPlan {
  return {
    latencyMs: drawLatency(faults.latencyMs, random),
    outcome: drawOutcome(faults, retryAfter, random),
    list: faults.list ?? {},
  };
}

/** The injected faults, none at first, and the number of requests that they have concerned. */
export function createFaultInjector(deps: { readonly now: () => number; readonly random: Random }) {
  let faults: Faults = {};
  let concerned = 0;
  let window = { startMs: 0, requests: 0 };

  const exceeded = (limit: NonNullable<Faults['rateLimit']>): string | undefined => {
    const nowMs = deps.now();
    const windowMs = limit.windowMs ?? defaultWindowMs;
    if (nowMs - window.startMs >= windowMs) window = { startMs: nowMs, requests: 0 };
    window.requests += 1;
    if (window.requests <= (limit.requests ?? 0)) return undefined;
    return String(limit.retryAfter ?? Math.ceil((window.startMs + windowMs - nowMs) / 1_000));
  };

  return {
    /** The present faults, and the number of requests that they have concerned. */
    state: () => ({ faults, concerned }),
    /** Replaces all faults and restarts the count. */
    set(next: Faults): void {
      faults = next;
      concerned = 0;
      window = { startMs: 0, requests: 0 };
    },
    /** Counts the request and decides its fate. */
    plan(facts: RequestFacts): FaultPlan {
      if (!faultsConcern(faults, facts)) return noFault;
      concerned += 1;
      if (!faultsHit(faults, concerned)) return noFault;
      return planFault(faults, faults.rateLimit && exceeded(faults.rateLimit), deps.random);
    },
  };
}

function drawLatency(latencyMs: Faults['latencyMs'], random: Random): number {
  if (latencyMs === undefined || typeof latencyMs === 'number') return latencyMs ?? 0;
  return wholeNumber(random, latencyMs.min, Math.max(latencyMs.min, latencyMs.max));
}

function drawOutcome(faults: Faults, retryAfter: string | undefined, random: Random): FaultOutcome {
  if (faults.authFailure !== undefined) return refusal(faults.authFailure, 'PARTNER_KEY_INVALID');
  if (retryAfter !== undefined) return refusal(429, 'RATE_LIMITED', { 'retry-after': retryAfter });
  if (random() < (faults.hangRate ?? 0)) return { kind: 'hang' };
  if (random() < (faults.errorRate ?? 0)) {
    const status = pick(random, faults.errorStatuses ?? defaultErrorStatuses);
    return faults.errorBody === 'html' ? htmlPage(status) : refusal(status, 'SERVICE_UNAVAILABLE');
  }
  if (random() < (faults.htmlRate ?? 0)) return htmlPage(200);
  if (faults.answer !== undefined) {
    const { status = 200, headers = {}, body = '' } = faults.answer;
    return { kind: 'answer', status, headers, body };
  }
  if (random() < (faults.cutRate ?? 0)) return { kind: 'cut', how: faults.cut ?? 'connection' };
  if (faults.dripBytesPerSecond !== undefined)
    return { kind: 'drip', bytesPerSecond: faults.dripBytesPerSecond };
  return { kind: 'none' };
}

const messages = {
  PARTNER_KEY_INVALID: 'the partner key is not valid',
  RATE_LIMITED: 'too many requests',
  SERVICE_UNAVAILABLE: 'the service is out of order',
};

function refusal(
  status: number,
  code: keyof typeof messages,
  more: Readonly<Record<string, string>> = {},
): FaultOutcome {
  const headers = { 'content-type': 'application/json; charset=utf-8', ...more };
  return { kind: 'answer', status, headers, body: JSON.stringify(errorBody(code, messages[code])) };
}

function htmlPage(status: number): FaultOutcome {
  const body = '<!DOCTYPE html><html><body><h1>We will be right back</h1></body></html>';
  return { kind: 'answer', status, headers: { 'content-type': 'text/html' }, body };
}
