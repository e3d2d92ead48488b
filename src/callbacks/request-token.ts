import type { Auth } from '../subscriptions/options/auth.ts';
import { orNull } from '../json/or-null.ts';
import { jitter } from '../waiting/jitter.ts';
import type { CallbackClient } from './callback-client.ts';
import { bodyBytesMax } from './exchange.ts';
import { requestedPauseMs } from './outcome.ts';
import type { CallbackFailure, CallbackResponse, CallbackResult } from './result.ts';

/** A bearer token (RFC 6750). Times are milliseconds on the clock of the process that requested it. */
export interface AccessToken {
  readonly value: string;
  /** From then on another one is requested, while this one is still sent. */
  readonly refreshAt: number;
  /** It is not sent from then on. */
  readonly usableUntil: number;
}

/** Why there is no token. */
export interface TokenFailure {
  readonly kind: 'failed';
  /** Names the token endpoint by its origin, and includes the remedy; contains no secret. */
  readonly reason: string;
  /** Milliseconds that the token endpoint has asked to wait, or null if it has not. */
  readonly retryAfterMs: number | null;
}

/** A request for a token that failed on this side: the token endpoint is not at fault. */
export interface UnaskedToken {
  readonly kind: 'unasked';
  /** The outcome of the callback is that of this failure. */
  readonly failure: CallbackFailure;
}

/** The answer to a request for a token. */
export type TokenAnswer =
  { readonly kind: 'token'; readonly token: AccessToken } | TokenFailure | UnaskedToken;

export interface TokenRequestDeps {
  /** The client of the callbacks: its rules for URLs and addresses hold for token endpoints, too. */
  readonly client: CallbackClient;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  readonly random: () => number;
}

/** Requests a token of a token endpoint, once. Rejects only when the client is closed. */
export type RequestToken = (account: string, auth: Auth) => Promise<TokenAnswer>;

// Maximum milliseconds of a request for a token, whatever DELIVERY_TIMEOUT_MS is.
const requestMsMax = 8_000;
// Maximum characters of a token: with more, most receivers refuse the headers of the request.
const tokenLengthMax = 8_192;
// Visible ASCII (RFC 6749 appendix A.12), without spaces: it is sent within a header.
const tokenForm = /^[\x21-\x7e]+$/;
// Failures of this process, or of what stands between it and all endpoints.
const isOurs: ReadonlySet<string> = new Set(['aborted', 'sender_error', 'proxy_error']);

/**
 * Requests tokens by the grant of client credentials (RFC 6749 §4.4). Redirects are not followed, and at most
 * 16 KiB of an answer are read.
 */
export function createTokenRequest({ client, now, random }: TokenRequestDeps): RequestToken {
  return async (account, auth) => {
    const requestedAt = now();
    const result = await client.post({
      ...requestOf(auth),
      account,
      timeoutMsMax: requestMsMax,
      excerptBytesMax: bodyBytesMax,
    });
    if (result.kind === 'failure' && isOurs.has(result.code)) return { kind: 'unasked', failure: result };
    const granted = isComplete(result) ? readGrant(result) : problemOf(result);
    if (typeof granted !== 'string') {
      const token = { value: granted.value, ...tokenTimes(granted.lifeSeconds, requestedAt, random) };
      return { kind: 'token', token };
    }
    const origin = URL.parse(auth.tokenUrl)?.origin ?? 'of the subscription';
    const retryAfterMs = result.kind === 'response' ? requestedPauseMs(result) : null;
    return { kind: 'failed', reason: `The token endpoint ${origin} ${granted}`, retryAfterMs };
  };
}

function requestOf({ tokenUrl, clientId, clientSecret, scope, audience, clientAuthentication }: Auth) {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== null) form.set('scope', scope);
  if (audience !== null) form.set('audience', audience);
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'accept-encoding': 'identity',
  };
  if (clientAuthentication === 'post') {
    form.set('client_id', clientId);
    form.set('client_secret', clientSecret);
  } else {
    // Both parts are form-encoded first (RFC 6749 §2.3.1).
    const [id, secret] = [clientId, clientSecret].map((text) =>
      `${new URLSearchParams({ '': text })}`.slice(1),
    );
    headers['authorization'] = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  }
  return { url: tokenUrl, headers, body: Buffer.from(form.toString()) };
}

function isComplete(result: CallbackResult): result is CallbackResponse {
  return result.kind === 'response' && result.statusCode === 200 && result.body === 'complete';
}

interface Grant {
  readonly value: string;
  /** Undefined if the token endpoint does not say. */
  readonly lifeSeconds: number | undefined;
}

// The grant in a complete answer 200 (RFC 6749 §5.1), or what is wrong with it. Members beside these mean
// nothing here.
function readGrant({ excerpt }: CallbackResponse): Grant | string {
  const members = membersOf(excerpt);
  const { access_token: value, token_type: type, expires_in: life } = members ?? {};
  const lifeSeconds = life == null ? undefined : Number(life);
  const isToken = typeof value === 'string' && value.length <= tokenLengthMax && tokenForm.test(value);
  let wrong = '';
  if (members === null) wrong = 'its JSON';
  else if (!isToken) wrong = 'access_token';
  else if (String(type).toLowerCase() !== 'bearer') wrong = 'token_type';
  else if (lifeSeconds !== undefined && !(lifeSeconds >= 0)) wrong = 'expires_in';
  else return { value, lifeSeconds };
  return `answered 200 without a token that can be used, since ${wrong} is missing or wrong: it has to answer with JSON that has access_token and the token_type Bearer.`;
}

function membersOf(text: string): Readonly<Record<string, unknown>> | null {
  return orNull(() => Object(JSON.parse(text)) as Record<string, unknown>);
}

// Milliseconds for which a token is used whose lifetime the token endpoint does not tell.
const unknownLifeMs = 600_000;
// Minimum and maximum milliseconds of the lifetime of a token, whatever the token endpoint says.
const lifeMsMin = 1_000;
const lifeMsMax = 86_400_000;
// Share of the lifetime before whose end a token is replaced, with its maximum in milliseconds. The margin is
// up to half as long again, so that tokens requested together are not replaced together.
const refreshShare = 0.1;
const refreshMsMax = 300_000;
const refreshSpread = { more: 0.5 };
// Share of the lifetime, with its maximum in milliseconds, that is left for the way to the endpoint.
const transitShare = 0.02;
const transitMsMax = 10_000;

// The lifetime is in seconds (RFC 6749 §5.1).
function tokenTimes(lifeSeconds: number | undefined, requestedAt: number, random: () => number) {
  const askedMs = lifeSeconds === undefined ? unknownLifeMs : lifeSeconds * 1000;
  const lifeMs = Math.min(Math.max(askedMs, lifeMsMin), lifeMsMax);
  const marginMs = jitter(Math.min(lifeMs * refreshShare, refreshMsMax), refreshSpread, random);
  const transitMs = Math.min(lifeMs * transitShare, transitMsMax);
  return { refreshAt: requestedAt + lifeMs - marginMs, usableUntil: requestedAt + lifeMs - transitMs };
}

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
function problemOf(result: CallbackResult): string {
  if (result.kind === 'failure') return `gave no answer: ${result.detail}`;
  const { statusCode, body, excerpt } = result;
  if (body === 'cut')
    return `answered ${statusCode} with more than ${bodyBytesMax / 1024} KiB, or too slowly: check tokenUrl.`;
  if (body === 'broken') return `answered ${statusCode} and broke off: check that it is up.`;
  if (statusCode >= 300 && statusCode <= 399)
    return `answered ${statusCode}; redirects are not followed: give the address that it leads to as tokenUrl.`;
  const { error } = membersOf(excerpt) ?? {};
  if (typeof error === 'string' && Object.hasOwn(remedies, error))
    return `answered ${statusCode} ${error}: ${remedies[error] ?? ''}`;
  return `answered ${statusCode}: check tokenUrl and auth; its log says more.`;
}
