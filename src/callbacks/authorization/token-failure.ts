import type { Auth } from '../../subscriptions/settings/auth.ts';
import { parseRetryAfter } from '../../waiting/retry-after.ts';
import { bodyBytesMax } from '../exchange.ts';
import type { CallbackFailureCode, CallbackResponse, CallbackResult } from '../result.ts';
import type { TokenFailure } from './access-token.ts';

/** The failure of a request for a token that an answer of the token endpoint means, or the lack of one. */
export function failureOfResult({ tokenUrl }: Auth, result: CallbackResult): TokenFailure {
  if (result.kind === 'failure') return failed(tokenUrl, withoutAnswer[result.code] ?? 'could not be asked.');
  return failed(tokenUrl, problemOf(result), pauseAskedFor(result));
}

/** The failure of a complete answer 200 without a token that can be sent, because of its part `wrong`. */
export function failureOfToken({ tokenUrl }: Auth, wrong: string): TokenFailure {
  return failed(
    tokenUrl,
    `answered 200 without a token that can be used, since ${wrong} is missing or wrong: it has to answer with JSON (application/json) that has access_token and the token_type Bearer.`,
  );
}

/** The failure where another process that asks for a token does not come to an end. */
export function failureOfWaiting({ tokenUrl }: Auth): TokenFailure {
  return failed(tokenUrl, 'is asked by another process, which has no answer yet; nothing needs to be done.');
}

/** Minimum milliseconds of a pause: `Retry-After: 0` must not become a tight loop. */
const pauseMsMin = 1_000;

function failed(tokenUrl: string, problem: string, retryAfterMs: number | null = null): TokenFailure {
  return { kind: 'failed', reason: `The token endpoint ${originOf(tokenUrl)} ${problem}`, retryAfterMs };
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'of the subscription';
}

const withoutAnswer: Readonly<Partial<Record<CallbackFailureCode, string>>> = {
  timeout: 'did not answer in time: check that it is up and not overloaded.',
  dns_error: 'has a host name that could not be resolved: check tokenUrl.',
  blocked_address:
    'does not lead to public addresses on a permitted port; the operator opens private networks with DELIVERY_ALLOW_CIDRS.',
  connection_refused: 'refused the connection: check that it is up, and the port in tokenUrl.',
  connection_reset: 'closed the connection before it answered: check that it is up.',
  unreachable: 'could not be reached: check the network between the daemon and it.',
  tls_error: 'has no TLS connection that is trusted: check its certificate.',
  malformed_response: 'answered with something that is not HTTP/1.1: check tokenUrl.',
  response_too_large: 'answered with headers that are too large.',
  proxy_refused:
    'was refused by the forward proxy: check that it is up, and that the proxy permits its host.',
};

// The errors of RFC 6749 §5.2, RFC 8707 and widespread servers. Others are not repeated: their text is
// foreign.
const remedies: Readonly<Record<string, string>> = {
  invalid_client: 'check clientId, clientSecret and clientAuthentication.',
  unauthorized_client: 'allow the client the grant client_credentials there.',
  unsupported_grant_type: 'allow the grant client_credentials there.',
  invalid_scope: 'check scope.',
  invalid_target: 'check audience.',
  invalid_request: 'check scope, audience and clientAuthentication.',
  invalid_grant: 'check that the client may use the grant client_credentials there.',
  access_denied: 'check that the client may ask for this scope and audience.',
  temporarily_unavailable: 'it is asked again by itself.',
  server_error: 'its log says why.',
  slow_down: 'it is asked again by itself, at longer intervals.',
};

function problemOf(response: CallbackResponse): string {
  const { statusCode, body, excerpt } = response;
  if (body === 'cut')
    return `answered ${statusCode} with more than ${bodyBytesMax / 1024} KiB, or too slowly: check tokenUrl.`;
  if (body === 'broken') return `answered ${statusCode} and broke off: check that it is up.`;
  if (statusCode >= 300 && statusCode <= 399)
    return `answered ${statusCode}; redirects are not followed: give the address that it leads to as tokenUrl.`;
  const error = errorCodeOf(excerpt);
  if (error !== null) return `answered ${statusCode} ${error}: ${remedies[error] ?? ''}`;
  return `answered ${statusCode}: ${remedyFor(statusCode)}`;
}

function remedyFor(statusCode: number): string {
  if (statusCode === 401) return remedies['invalid_client'] ?? '';
  if (statusCode === 403) return remedies['access_denied'] ?? '';
  if (statusCode === 404 || statusCode === 405) return 'check tokenUrl.';
  if (statusCode === 429) return 'it gets too many requests, and is asked again later.';
  return statusCode >= 500 ? 'its log says why.' : 'check auth; its log says more.';
}

function errorCodeOf(text: string): string | null {
  try {
    const parsed: unknown = JSON.parse(text);
    const error =
      typeof parsed === 'object' && parsed !== null ? (parsed as { error?: unknown }).error : null;
    return typeof error === 'string' && Object.hasOwn(remedies, error) ? error : null;
  } catch {
    return null;
  }
}

// Only of a 429 (RFC 6585 §4) or 503 (RFC 9110 §15.6.4), as for callbacks.
function pauseAskedFor({ statusCode, retryAfter, receivedAtMs }: CallbackResponse): number | null {
  if (statusCode !== 429 && statusCode !== 503) return null;
  const askedMs = parseRetryAfter(retryAfter, receivedAtMs);
  return askedMs === null ? null : Math.max(askedMs, pauseMsMin);
}
