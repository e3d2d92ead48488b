import type { IncomingHttpHeaders } from 'node:http';
import type { Verdict } from './pace.ts';

/** The kind of failure of a request to the partner service. */
export type PartnerErrorKind =
  | 'auth' // 401, 403: the key is refused
  | 'rate_limited' // 429, or a 403 that says so
  | 'unavailable' // 5xx
  | 'timeout' // the deadline of the whole request passed
  | 'network' // refused, reset, DNS, TLS
  | 'proxy' // the forward proxy made no connection
  | 'invalid_response' // 2xx with an unexpected body: HTML, cut JSON, wrong types, too large
  | 'unexpected_status' // 3xx (never followed) and other 4xx
  | 'aborted'; // the daemon stopped it

/** The parts of an answer that are counted: all its bytes, and the records of a page. */
export type Counted = 'bytes' | 'records';

/** An answer has more than it may have of something, and is not read any further. */
export class AnswerExcess extends Error {
  override readonly name = 'AnswerExcess';
  readonly of: Counted;
  readonly max: number;

  constructor(of: Counted, max: number) {
    super(`more than ${max} ${of}`);
    this.of = of;
    this.max = max;
  }
}

/** The size that made an answer unreadable; `limit` is that of a page, null for other answers. */
export interface Excess {
  readonly of: Counted;
  readonly limit: number | null;
}

/** A failed request. The message names endpoint and cause, never the key, a header or a body. */
export class PartnerError extends Error {
  override readonly name = 'PartnerError';
  readonly kind: PartnerErrorKind;
  /** HTTP status, or null when there was no answer. */
  readonly status: number | null;
  /**
   * Minimum milliseconds that the service asks to wait before the next request, or null if it asks for none.
   */
  readonly retryAfterMs: number | null;
  /** The part of the answer that was too large, or null if its size was no problem. */
  readonly excess: Excess | null;

  constructor(
    kind: PartnerErrorKind,
    message: string,
    details: { status?: number | null; retryAfterMs?: number | null; excess?: Excess | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.status = details.status ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.excess = details.excess ?? null;
  }
}

/** The kind of failure that an answer with this status is (docs/partner.md#errors); null for 2xx. */
export function kindOfStatus(status: number): PartnerErrorKind | null {
  if (status >= 200 && status < 300) return null;
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'unavailable' : 'unexpected_status';
}

const remaining = ['x-ratelimit-remaining', 'x-rate-limit-remaining', 'ratelimit-remaining'];

/**
 * Whether an answer refuses a request because there were too many: 429, or a 403 that says so in its headers,
 * as that of GitHub does.
 */
export function isRateLimit(status: number, headers: IncomingHttpHeaders): boolean {
  if (status !== 403) return status === 429;
  return headers['retry-after'] !== undefined || remaining.some((name) => headers[name] === '0');
}

/** The consequences of a failure. */
export interface Meaning {
  /**
   * For the rest of the poll, after a list or a single filing was requested. `left_out`: the poll goes on
   * without it. `poll_ends`: the failure is about the whole account.
   */
  readonly list: 'left_out' | 'poll_ends';
  readonly filing: 'left_out' | 'poll_ends';
  /**
   * Whether the request is repeated within the poll: `soon` if the fault is transient, `after_wait` if the
   * service asks to slow down.
   */
  readonly repeat: 'soon' | 'after_wait' | 'never';
  /** The verdict for the pace of requests; null for none. */
  readonly pace: Exclude<Verdict, 'fine'> | null;
  /** The service has understood the request and will not serve it, whenever it comes. */
  readonly isRefusal: boolean;
}

type Failure = Exclude<PartnerErrorKind, 'auth' | 'unexpected_status'>;

const passing = { list: 'left_out', filing: 'left_out', repeat: 'soon', isRefusal: false } as const;
const final = { list: 'poll_ends', filing: 'poll_ends', repeat: 'never', isRefusal: false } as const;

/** The one place that defines the consequences of each failure. */
const meanings: Readonly<
  Record<Failure | 'key_refused' | 'forbidden' | 'refused' | 'unexpected' | 'too_large', Meaning>
> = {
  key_refused: { ...final, pace: null },
  // May be about that filing alone; the next list shows whether it is about the account.
  forbidden: { ...final, filing: 'left_out', pace: null },
  rate_limited: { ...final, repeat: 'after_wait', pace: 'refused' },
  unavailable: { ...passing, pace: 'trouble' },
  timeout: { ...passing, pace: 'trouble' },
  network: { ...passing, pace: 'trouble' },
  // It is asked again with the next poll; the service has not heard of it.
  proxy: { ...final, pace: null },
  invalid_response: { ...passing, pace: null },
  // The same request would get the same answer.
  too_large: { ...passing, repeat: 'never', pace: null },
  refused: { ...passing, repeat: 'never', pace: null, isRefusal: true },
  unexpected: { ...passing, repeat: 'never', pace: null },
  aborted: { ...final, pace: null },
};

type Failed = Pick<PartnerError, 'kind' | 'status'> & { readonly excess?: Excess | null };

/** The consequences of a failure of that kind. */
export function meaningOf({ kind, status, excess = null }: Failed): Meaning {
  if (excess !== null) return meanings.too_large;
  if (kind === 'auth') return status === 403 ? meanings.forbidden : meanings.key_refused;
  if (kind !== 'unexpected_status') return meanings[kind];
  // 408 is about the time that the request took.
  return status !== null && status >= 400 && status !== 408 ? meanings.refused : meanings.unexpected;
}

/** The consequence of a failure for the rest of a poll. */
export function consequence(error: PartnerError, request: 'list' | 'filing'): 'left_out' | 'poll_ends' {
  return meaningOf(error)[request];
}

/** Whether an error means that the service will not serve a request, whenever it comes. */
export function isRefusal(error: unknown): error is PartnerError {
  return error instanceof PartnerError && meaningOf(error).isRefusal;
}

/**
 * The error that ends a poll after a failure of several filings: a refusal of filings alone must not count as
 * a refusal of the account's key.
 */
export function aboutFilings(error: PartnerError): PartnerError {
  return error.kind === 'auth' ? new PartnerError('unexpected_status', error.message, error) : error;
}
