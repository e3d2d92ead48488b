import { failureDetails, type CallbackResponse, type CallbackResult } from './result.ts';
import { parseRetryAfter } from '../waiting/retry-after.ts';
import { shortened } from '../json/cut-text.ts';

/** Every outcome code and its consequence (docs/callback-outcomes.md). Codes are never renamed. */
export const outcomeKinds = {
  delivered: 'delivered',
  gone: 'gone',
  slow_down: 'slow_down',
  redirect: 'retry',
  http_error: 'retry',
  mail_refused: 'refused',
  mail_deferred: 'retry',
  timeout: 'retry',
  dns_error: 'retry',
  blocked_address: 'retry',
  connection_refused: 'retry',
  connection_reset: 'retry',
  unreachable: 'retry',
  tls_error: 'retry',
  malformed_response: 'retry',
  response_too_large: 'retry',
  sender_error: 'retry',
  token_error: 'retry',
  proxy_refused: 'retry',
  proxy_error: 'held',
  aborted: 'aborted',
} as const;

/** The stable name of an outcome in logs, metrics and attempts. */
type OutcomeCode = keyof typeof outcomeKinds;

type RetryCode = {
  [Code in OutcomeCode]: (typeof outcomeKinds)[Code] extends 'retry' ? Code : never;
}[OutcomeCode];

/**
 * The consequence of one attempt for the event and its subscription. `reason` is one sentence for the
 * subscriber.
 */
export type CallbackOutcome =
  /** Acknowledged: never sent again, except by a replay. */
  | { readonly kind: 'delivered'; readonly code: 'delivered' }
  /** Not acknowledged: attempted again by the retry schedule. */
  | {
      readonly kind: 'retry';
      readonly code: RetryCode;
      /** False when nothing of the event was sent: the endpoint cannot have failed because of it. */
      readonly sent: boolean;
      readonly reason: string;
    }
  /** Not acknowledged, and not attempted again: another attempt would be refused as well. */
  | { readonly kind: 'refused'; readonly code: 'mail_refused'; readonly reason: string }
  /** The receiver refuses further callbacks: the subscription is disabled. */
  | { readonly kind: 'gone'; readonly code: 'gone'; readonly reason: string }
  /**
   * Not acknowledged, and the whole subscription pauses for `retryAfterMs`: at least a second, at most an
   * hour. With `token_error` it was the token endpoint that asked for it.
   */
  | {
      readonly kind: 'slow_down';
      readonly code: 'slow_down' | 'token_error';
      readonly retryAfterMs: number;
      readonly reason: string;
    }
  /**
   * Not sent, because the forward proxy does not work. It says nothing about event or endpoint and uses up no
   * attempt; the whole subscription pauses for `retryAfterMs`.
   */
  | {
      readonly kind: 'held';
      readonly code: 'proxy_error';
      readonly retryAfterMs: number;
      readonly reason: string;
    }
  /**
   * Cut off because this process ends. It says nothing about event or endpoint, uses up no attempt, and the
   * next drain sends the event again.
   */
  | { readonly kind: 'aborted'; readonly code: 'aborted'; readonly reason: string };

/** Minimum milliseconds of a pause: `Retry-After: 0` must not become a tight loop. */
const slowDownMinMs = 1000;

/**
 * Classifies the result of a callback. Once headers have arrived within the deadline, the status decides
 * alone. A 2xx whose body then breaks, drips or grows too large has still acknowledged: sending again would
 * only repeat an accepted event.
 */
export function classifyOutcome(result: CallbackResult): CallbackOutcome {
  if (result.kind === 'failure') {
    const { code, sent, detail } = result;
    if (code === 'aborted') return { kind: 'aborted', code, reason: detail };
    if (code === 'proxy_error')
      return { kind: 'held', code, retryAfterMs: result.retryAfterMs ?? slowDownMinMs, reason: detail };
    return { kind: 'retry', code, sent, reason: detail };
  }
  const { statusCode } = result;
  if (statusCode >= 200 && statusCode <= 299) return { kind: 'delivered', code: 'delivered' };
  if (statusCode === 410) return { kind: 'gone', code: 'gone', reason: 'The receiver answered 410.' };
  const retryAfterMs = requestedPauseMs(result);
  if (retryAfterMs !== null) {
    const reason = `The receiver answered ${statusCode} with Retry-After.`;
    return { kind: 'slow_down', code: 'slow_down', retryAfterMs, reason };
  }
  if (statusCode >= 300 && statusCode <= 399) {
    const reason = `The receiver answered ${statusCode}; redirects are not followed.`;
    return { kind: 'retry', code: 'redirect', sent: true, reason };
  }
  return { kind: 'retry', code: 'http_error', sent: true, reason: `The receiver answered ${statusCode}.` };
}

/**
 * The outcome of an attempt for which there was no token. Nothing of the event was sent, as to an endpoint
 * that is down.
 */
export function outcomeWithoutToken({
  reason,
  retryAfterMs,
}: {
  readonly reason: string;
  readonly retryAfterMs: number | null;
}): CallbackOutcome {
  if (retryAfterMs === null) return { kind: 'retry', code: 'token_error', sent: false, reason };
  return { kind: 'slow_down', code: 'token_error', retryAfterMs, reason };
}

// Codes that say as much as any of their reasons, with the status.
const plainCodes: ReadonlySet<string> = new Set([
  'aborted',
  'gone',
  'slow_down',
  'redirect',
  'http_error',
  'mail_refused',
  'mail_deferred',
] satisfies OutcomeCode[]);
const generalReasons: ReadonlySet<string> = new Set(Object.values(failureDetails));
// Maximum characters of a reason that is kept.
const keptReasonMax = 200;

/**
 * The reason stored with an attempt, at most 200 characters. Null if the code and the status say as much, and
 * always for `delivered`.
 */
export function keptReason(outcome: CallbackOutcome): string | null {
  if (outcome.kind === 'delivered') return null;
  const { code, reason } = outcome;
  if (plainCodes.has(code) || generalReasons.has(reason)) return null;
  return shortened(reason, keptReasonMax);
}

/**
 * Milliseconds of the pause that a response asks for: null unless it is a 429 (RFC 6585 §4) or 503 (RFC 9110
 * §15.6.4) with a readable Retry-After.
 */
export function requestedPauseMs(response: CallbackResponse): number | null {
  if (response.statusCode !== 429 && response.statusCode !== 503) return null;
  const pauseMs = parseRetryAfter(response.retryAfter, response.receivedAtMs);
  return pauseMs === null ? null : Math.max(pauseMs, slowDownMinMs);
}
