/**
 * What the partner specification leaves open ("not shown") and this sandbox had to decide. Nothing here is
 * known about the real service; `docs/sandbox.md` explains each choice, and a client should not depend on any
 * of them.
 */

/** Every failure of the service: its stable code and the status it is answered with. */
export const errorStatus = {
  MALFORMED_REQUEST: 400,
  MALFORMED_JSON: 400,
  INVALID_REQUEST: 400,
  PARTNER_KEY_MISSING: 401,
  PARTNER_KEY_INVALID: 401,
  STATE_NOT_ENABLED: 403,
  UPLOAD_CONTENT_TYPE: 403,
  UPLOAD_URL_INVALID: 403,
  UPLOAD_URL_EXPIRED: 403,
  UPLOAD_URL_USED: 403,
  ROUTE_NOT_FOUND: 404,
  FILING_NOT_FOUND: 404,
  UNKNOWN_STATE: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  INVALID_INPUT: 422,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

/**
 * A signed upload URL may be used this long after it was issued, in milliseconds; the control interface may
 * shorten it.
 */
export const uploadUrlLifetimeMs = 15 * 60_000;

/** The largest file that the storage takes, in bytes. */
export const uploadBytesMax = 25 * 1024 * 1024;

/** The largest JSON body that an endpoint takes, in bytes. */
export const jsonBodyBytesMax = 1024 * 1024;

/** A request must have arrived completely within this time, in milliseconds. */
export const requestTimeoutDefaultMs = 30_000;

/**
 * Connections are looked through for late requests this often, in milliseconds: so much later one may be
 * answered.
 */
export const lateRequestCheckMs = 1_000;

/**
 * A connection on which nothing moves is closed after this time, in milliseconds; it also ends a `hang`
 * fault.
 */
export const idleConnectionMs = 120_000;

/**
 * The longest filing id that can be asked for, in characters (Node's own limit on a request's head is 16
 * KiB).
 */
export const idLengthMax = 12_000;

/** The largest premium, fee or value, in dollars; none may be negative. */
export const moneyMax = 1_000_000_000;

/** The longest policy number, name or file name, in characters. */
export const textLengthMax = 255;

/** The longest `userNotes`, in characters. */
export const notesLengthMax = 5_000;

/** The most files that one filing may be created with. */
export const filesMax = 50;

/**
 * Amounts of a quote have this many decimals; each line is rounded by itself, half away from zero, and then
 * added up.
 */
export const moneyDecimals = 2;

/** What a filing that was rejected without a given reason says. */
export const defaultRejectionReason = 'Rejected by the state; correct the filing and submit it again';

/** Partner keys that work without any configuration, and the accounts they belong to. */
export const defaultKey = 'sandbox-key';
export const defaultOwner = 'default';
export const secondOwner = 'second';
export const secondKey = 'sandbox-key-2';

/** States that the built-in accounts may file in; every other account may file in all of them. */
export const enabledStatesOf: ReadonlyMap<string, readonly string[]> = new Map([
  [defaultOwner, ['CA', 'FL', 'KY', 'NY', 'TX']],
  [secondOwner, ['OR', 'TX']],
]);

/** The most filings that one `POST /_sandbox/seed` makes. */
export const seedCountMax = 1_000_000;
