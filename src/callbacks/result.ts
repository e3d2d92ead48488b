/** Why no answer was received. Stable: used in logs, metrics and the list of attempts. */
export type CallbackFailureCode =
  | 'timeout'
  | 'dns_error'
  | 'blocked_address'
  | 'connection_refused'
  | 'connection_reset'
  | 'unreachable'
  | 'tls_error'
  | 'malformed_response'
  | 'response_too_large'
  | 'sender_error'
  | 'aborted';

/**
 * An answer whose status and headers arrived within the deadline. `excerpt` is the beginning of the body as
 * it came, at most 1 KiB read as UTF-8, with `body` telling whether the body came to its end, was cut off
 * here for its size or the deadline, or broke on the way.
 */
export interface CallbackResponse {
  readonly kind: 'response';
  readonly statusCode: number;
  /** The Retry-After header as sent, null when absent or repeated. */
  readonly retryAfter: string | null;
  /** Epoch milliseconds at which the headers arrived: what Retry-After counts from. */
  readonly receivedAtMs: number;
  readonly excerpt: string;
  readonly body: 'complete' | 'cut' | 'broken';
  readonly durationMs: number;
}

/**
 * No answer. `detail` is a sentence for the subscriber: it holds neither addresses nor anything the receiver
 * chose.
 */
export interface CallbackFailure {
  readonly kind: 'failure';
  readonly code: CallbackFailureCode;
  readonly detail: string;
  /** False when no connection came about, so that nothing of the event can have reached the receiver. */
  readonly sent: boolean;
  readonly durationMs: number;
}

/** What came of one POST. */
export type CallbackResult = CallbackResponse | CallbackFailure;
