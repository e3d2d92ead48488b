/** Statuses of the answers by what is wrong; the daemon tries again after each of them. */
const statuses = {
  missing_header: 400,
  malformed_header: 400,
  malformed_body: 400,
  timestamp_out_of_tolerance: 401,
  signature_mismatch: 401,
  account_refused: 403,
  method_not_allowed: 405,
  body_too_large: 413,
  handler_failed: 500,
  body_consumed: 500,
  misconfigured: 500,
  keys_unavailable: 503,
  store_failed: 503,
  in_flight: 503,
} as const;

/** What is wrong with a callback, or with handling it. */
export type CallbackErrorCode = keyof typeof statuses;

/** A callback was not handled. `message` says why and what to do, and holds nothing secret; `cause` is the error behind it. */
export class CallbackError extends Error {
  override readonly name = 'CallbackError';
  readonly code: CallbackErrorCode;
  /** The status that it is answered with. */
  readonly status: number;
  /** Seconds after which the daemon should try again; null leaves that to its schedule. */
  readonly retryAfterSeconds: number | null;

  constructor(
    code: CallbackErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.code = code;
    this.status = statuses[code];
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** A receiver was set up wrongly; `message` says what to change. It is thrown before any callback is taken. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}
