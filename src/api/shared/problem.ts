import { cutText } from '../../json/cut-text.ts';
import type { FieldError } from '../../json/validation-problems.ts';

/** Every error code of the API with its status and title. Codes are never renamed: clients branch on them. */
export const problemCodes = {
  malformed_request: [400, 'The request could not be read'],
  malformed_json: [400, 'The body is not JSON'],
  unauthorized: [401, 'A valid token is needed'],
  read_only_token: [403, 'This token may only read'],
  triage_only_token: [403, 'This token only notes what people do about filings'],
  own_subscriptions_only: [403, 'This token manages only its own subscriptions'],
  foreign_origin: [403, 'The page has another origin than the API'],
  not_found: [404, 'There is nothing here'],
  account_not_found: [404, 'No such account'],
  token_not_found: [404, 'No such token'],
  subscription_not_found: [404, 'No such subscription'],
  filing_not_found: [404, 'No such filing'],
  replay_not_found: [404, 'No such replay'],
  attempt_not_found: [404, 'No such attempt'],
  event_not_found: [404, 'No such event'],
  method_not_allowed: [405, 'This path does not allow that method'],
  filing_not_rejected: [409, 'The filing is not rejected'],
  nothing_doubted: [409, 'Nothing is held back'],
  subscription_unverified: [409, 'The endpoint is not verified'],
  nothing_to_verify: [409, 'No verification is asked for'],
  subscription_disabled: [409, 'The subscription is disabled'],
  account_quota_exceeded: [409, 'The account would store too much'],
  request_timeout: [408, 'The request took too long to arrive'],
  payload_too_large: [413, 'The body is too large'],
  uri_too_long: [414, 'The path is too long'],
  unsupported_media_type: [415, 'The body must be JSON'],
  expectation_failed: [417, 'The expectation cannot be met'],
  invalid_request: [422, 'The request is not valid'],
  invalid_cursor: [422, 'The cursor is not valid'],
  idempotency_key_reused: [422, 'The idempotency key was used for another request'],
  too_many_requests: [429, 'Too many requests'],
  test_running: [429, 'A test is running'],
  too_many_tokens: [429, 'Too many tokens'],
  too_many_subscriptions: [429, 'Too many subscriptions'],
  too_many_replays: [429, 'Too many unfinished replays'],
  too_many_streams: [429, 'Too many event streams'],
  headers_too_large: [431, 'The headers are too large'],
  internal_error: [500, 'The daemon failed unexpectedly'],
  starting: [503, 'The daemon is starting'],
  store_unavailable: [503, 'Redis does not answer or refuses writes'],
  partner_unavailable: [503, 'The partner service could not be asked'],
  secret_unreadable: [503, 'A stored secret cannot be opened'],
  record_unreadable: [503, 'A stored record cannot be read'],
  changes_refused: [503, 'Changes are refused at the moment'],
  store_emptied: [503, 'The store was emptied'],
  timeout: [503, 'The daemon took too long to answer'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

/** The media type of every error response. */
export const problemType = 'application/problem+json; charset=utf-8';

/** The stable name of an error. */
export type ProblemCode = keyof typeof problemCodes;

/**
 * An error response: thrown by the code that finds the fault, written by the error handler. `detail` says
 * what to do and contains no secret.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly statusCode: number;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    extra: { errors?: readonly FieldError[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.code = code;
    [this.statusCode] = problemCodes[code];
    this.errors = extra.errors ?? [];
    this.headers = extra.headers ?? {};
  }
}

/** Maximum number of wrong values that a response names. */
export const listedMax = 10;

// Maximum characters of the path to a wrong value.
const pathLengthMax = 200;

/** The response 422 for wrong values: the first ten of them, and whether there are more. */
export function invalidRequest(found: readonly FieldError[]): Problem {
  const errors = found
    .slice(0, listedMax)
    .map(({ path, message }) => ({ path: shorten(path, pathLengthMax), message }));
  return new Problem('invalid_request', summary(errors, found.length > listedMax), { errors });
}

/** The response 422 for one wrong value. */
export function invalidValue(path: string, message: string): Problem {
  return invalidRequest([{ path, message }]);
}

/** Throws that problem with these errors if there are any. */
export function refuseAny(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidRequest(errors);
}

function summary(errors: readonly FieldError[], hasMore: boolean): string {
  const [first = { path: '', message: '' }, ...others] = errors;
  if (others.length === 0) return sentence(first);
  const fields = errors.map(({ path }) => path).join(', ');
  return hasMore
    ? `More than ${listedMax} values are not valid; the first are: ${fields}. "errors" says what is wrong with each of these.`
    : `${errors.length} values are not valid: ${fields}. "errors" says what is wrong with each.`;
}

// A message goes on from its path, unless it begins with what was given: `states.0: "Texas" is no state`.
function sentence({ path, message }: FieldError): string {
  const end = /[.?]$/.test(message) ? '' : '.';
  return `${path}${message.startsWith('"') && path !== '' ? ':' : ''} ${message}${end}`.trimStart();
}

/** A text, cut off after `lengthMax` characters with an ellipsis for the rest; pure. */
export function shorten(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${cutText(text, lengthMax)}…` : text;
}

/**
 * The body of an error response (RFC 9457 §3). `type` is a reference relative to the address of the request,
 * so it leads to the explanation whatever name the daemon is reached by.
 */
export function problemBody(problem: Problem) {
  const [status, title] = problemCodes[problem.code];
  return {
    type: `/problems/${problem.code}`,
    title,
    status,
    code: problem.code,
    detail: problem.message,
    ...(problem.errors.length === 0 ? {} : { errors: problem.errors }),
  };
}

const absent = {
  account_not_found: 'GET /v1/accounts lists the accounts; PUT /v1/accounts/{account} creates this one.',
  subscription_not_found: 'GET the list of subscriptions for those there are.',
  token_not_found: 'GET the list of tokens to see their ids.',
  replay_not_found: 'POST …/replay returns the id; its subscription must still exist.',
  filing_not_found: 'No poll of this account has seen it; GET …/filings?q= finds filings.',
  attempt_not_found: 'GET …/attempts lists the attempts with their ids; they are kept as long as events.',
  event_not_found:
    'The log has no event with this id; an id is the webhook-id of a callback, and events are kept for EVENT_RETENTION_MS.',
} as const;

/** The problem of a resource that does not exist, or no longer, or not for the caller. */
export function notFound(code: keyof typeof absent): Problem {
  return new Problem(code, absent[code]);
}
