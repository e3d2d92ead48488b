/** What went wrong with a request to the partner service; each kind leads to its own reaction of the poll. */
export type PartnerErrorKind =
  | 'auth' // 401, 403: the key is refused; probe slowly until it is not
  | 'rate_limited' // 429: back off, not before Retry-After
  | 'unavailable' // 5xx: back off
  | 'timeout' // the whole-request deadline passed
  | 'network' // refused, reset, DNS, TLS
  | 'invalid_response' // 2xx that is not what the specification says: HTML, cut JSON, wrong types, too large
  | 'unexpected_status' // 3xx (never followed) and other 4xx
  | 'aborted'; // we stopped it ourselves

/** A failed request. The message names endpoint and cause, never the key, a header or a body. */
export class PartnerError extends Error {
  override readonly name = 'PartnerError';
  readonly kind: PartnerErrorKind;
  /** HTTP status, or null when there was no answer. */
  readonly status: number | null;
  /** The floor that the service set for the next request, in milliseconds; null when it set none. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: PartnerErrorKind,
    message: string,
    details: { status?: number | null; retryAfterMs?: number | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.status = details.status ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }
}

/**
 * What a failure means for the rest of a poll; pure: `left_out` what was asked for is missing, the poll goes
 * on; `poll_ends` it speaks of the whole account. 403 for a filing may be about that one only; whether it is
 * about the account, the next list shows.
 */
export function consequence(
  { kind, status }: PartnerError,
  request: 'list' | 'filing',
): 'left_out' | 'poll_ends' {
  if (kind === 'auth') return request === 'filing' && status === 403 ? 'left_out' : 'poll_ends';
  return kind === 'rate_limited' || kind === 'aborted' ? 'poll_ends' : 'left_out';
}

/**
 * Whether the service has understood a request and will not serve it, whenever it comes: 4xx, but about the
 * key (401, 403), the time it took (408) or the pace (429); pure.
 */
export function isRefusal({ kind, status }: PartnerError): boolean {
  return kind === 'unexpected_status' && status !== null && status >= 400 && status !== 408;
}
