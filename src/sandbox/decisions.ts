/**
 * Decisions of this sandbox on points that the real service does not document;
 * docs/sandbox.md#decisions-of-the-sandbox explains each. A client should not depend on any of them.
 */

/** HTTP status of every failure of the service, by its stable code. */
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

/** Milliseconds for which a signed upload URL may be used; the control interface may shorten it. */
export const uploadUrlLifetimeMs = 15 * 60_000;

/** Maximum bytes of a file in the storage. */
export const uploadBytesMax = 25 * 1024 * 1024;

/** Maximum bytes of a JSON body. */
export const jsonBodyBytesMax = 1024 * 1024;

/** Milliseconds within which a request must have arrived completely. */
export const requestTimeoutDefaultMs = 30_000;

/** Milliseconds between two searches for late requests: the response to one may come that much later. */
export const lateRequestCheckMs = 1_000;

/** Milliseconds after which an idle connection is closed; that also ends a `hang` fault. */
export const idleConnectionMs = 120_000;

/** Maximum characters of a filing id in a path (Node's own limit on a request's head is 16 KiB). */
export const idLengthMax = 12_000;

/** Maximum dollars of a premium, fee or value; none may be negative. */
export const moneyMax = 1_000_000_000;

/** Maximum characters of a policy number, name or file name. */
export const textLengthMax = 255;

/** Maximum characters of `userNotes`. */
export const notesLengthMax = 5_000;

/** Maximum number of files of a new filing. */
export const filesMax = 50;

/**
 * Decimals of the amounts of a quote. Each line is rounded by itself, half away from zero, before they are
 * added up.
 */
export const moneyDecimals = 2;

/** The reason of a filing that was rejected without one. */
export const defaultRejectionReason = 'Rejected by the state; correct the filing and submit it again';

/** Partner keys that work without any configuration, and their accounts. */
export const defaultKey = 'sandbox-key';
export const defaultOwner = 'default';
export const secondOwner = 'second';
export const secondKey = 'sandbox-key-2';

/** States that the built-in accounts may file in; every other account may file in all of them. */
export const enabledStatesOf: ReadonlyMap<string, readonly string[]> = new Map([
  [defaultOwner, ['CA', 'FL', 'KY', 'NY', 'TX']],
  [secondOwner, ['OR', 'TX']],
]);

/** Maximum number of filings of one `POST /_sandbox/seed`. */
export const seedCountMax = 1_000_000;
