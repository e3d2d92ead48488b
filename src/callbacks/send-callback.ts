import type { KeyObject } from 'node:crypto';
import { heavyBytes } from '../events/body-memo.ts';
import type { LogEntry } from '../events/event-log.ts';
import { parseSigner, validSecrets, type SigningSecret } from '../subscriptions/signing-secret.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { CallbackClient } from './callback-client.ts';
import { failedBeforehand } from './exchange.ts';
import { sendAuthorized, type Bearers } from './bearers.ts';
import { classifyOutcome, outcomeWithoutToken, type CallbackOutcome } from './outcome.ts';
import type { CallbackResponse, CallbackResult } from './result.ts';
import { formatBody } from './body-formats.ts';
import type { Mailer } from './mailer.ts';
import { sendMail } from './mail-sender.ts';
import { signedHeaders } from './sign.ts';
import { identityOf } from '../subscriptions/options/tls.ts';
import { cutText } from '../json/cut-text.ts';
import { orNull } from '../json/or-null.ts';
import { takeTurns } from '../json/turns.ts';

/** Which attempts keep more than their outcome: their request, and the headers of the response. */
export type AttemptDetails = 'none' | 'failures' | 'all';

/** The part of a request that its settings and its event do not show. */
export interface SentRequest {
  /** The `webhook-timestamp`: whole seconds on the wall clock of the process that sent it. */
  readonly timestamp: number;
  /** The `webhook-signature`; empty for an e-mail. */
  readonly signature: string;
}

/** The result of one attempt. */
export interface Sent {
  readonly outcome: CallbackOutcome;
  /** Null when there was no response. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** The first 1 KiB of the response as text, or null if there was none. */
  readonly response: string | null;
  /** Null if nothing could be written or no details are kept. */
  readonly request: SentRequest | null;
  /** The first headers of the response, or null if there was none or they are not kept. */
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** The `traceparent` that was sent, or null if none was. */
  readonly traceparent: string | null;
}

/**
 * Sends events to one subscription; keeps its signing keys in memory. `attempt` is the number of the event's
 * attempt from 1, which receivers get as `webhook-attempt`; it is not signed.
 */
export type CallbackSender = (
  entry: Pick<LogEntry, 'id' | 'filingId' | 'body'>,
  attempt: number,
) => Promise<Sent>;

export interface SendCallbackDeps {
  readonly client: CallbackClient;
  /** Sends what goes to mailboxes; null or missing without a mail server. */
  readonly mailer?: Mailer | null;
  /** The tokens of endpoints that want one; without it nothing is sent to these. */
  readonly bearers?: Bearers;
  /**
   * Milliseconds on the wall clock of this machine: receivers compare `webhook-timestamp` with theirs. A
   * wrong clock makes receivers refuse the callbacks of this process only. A wrong clock of Redis would make
   * them refuse all.
   */
  readonly wallClock: () => number;
  /** Milliseconds on Redis's clock, by which former secrets expire. */
  readonly now: () => number;
  /** The details that attempts keep: `failures` keeps the headers of responses that acknowledge nothing. */
  readonly attemptDetails?: AttemptDetails;
  /** The `traceparent` of an attempt to deliver an event; null for none. */
  readonly traceparent?: (eventId: string) => string | null;
}

/**
 * A sender for a subscription with its present settings. Every failure is an outcome, even if an event cannot
 * be written in the subscription's format. Rejects only once the client is closed, which is no attempt, or if
 * Redis fails.
 */
export function createCallbackSender(deps: SendCallbackDeps, subscription: Subscription): CallbackSender {
  const { client, bearers, wallClock, now, attemptDetails = 'failures' } = deps;
  const { traceparent: traceparentOf = () => null } = deps;
  const { account, id, url, headers, secrets, auth, timeoutMs = null, format } = subscription;
  const keysAt = createKeyring(secrets);
  const identity = identityOf(subscription.tls);
  const isMessage = format !== 'standard' && format !== 'cloudevents';
  const failed = toSent(failedBeforehand('sender_error'), null, null, attemptDetails);
  const bearer = auth == null ? null : bearers?.(account, id, auth);

  return async (entry, attempt) => {
    const startedAt = performance.now();
    // A message shows members of the filing. Parsing a heavy one takes milliseconds, so each has a turn.
    if (isMessage && entry.body.length >= heavyBytes) await takeTurns().next();
    const body = orNull(() => formatBody(subscription, entry));
    if (body === null || bearer === undefined) return failed;
    if (format === 'email') return sendMail({ ...deps, attemptDetails }, subscription, entry, body);
    const traceparent = traceparentOf(entry.id);
    const unsigned = { 'webhook-attempt': String(attempt), ...(traceparent === null ? {} : { traceparent }) };
    let request: SentRequest | null = null;
    // Signed for each request, because the time is that of the request.
    const post = (authorization: { readonly authorization?: string }) => {
      const timestamp = Math.floor(wallClock() / 1000);
      const signed = signedHeaders(keysAt(now()), entry.id, timestamp, body.bytes);
      request = { timestamp, signature: signed['webhook-signature'] };
      return client.post({
        url,
        headers: { ...headers, 'content-type': body.contentType, ...signed, ...unsigned, ...authorization },
        body: body.bytes,
        account,
        identity,
        timeoutMs,
      });
    };
    if (bearer === null) return toSent(await post({}), request, traceparent, attemptDetails);
    const result = await sendAuthorized(bearer, (authorization) => post({ authorization }));
    if (result.kind === 'unasked') return toSent(result.failure, null, null, attemptDetails);
    if (result.kind !== 'failed') return toSent(result, request, traceparent, attemptDetails);
    const durationMs = Math.round(performance.now() - startedAt);
    return { ...failed, outcome: outcomeWithoutToken(result), durationMs };
  };
}

function toSent(
  result: CallbackResult,
  request: SentRequest | null,
  traceparent: string | null,
  details: AttemptDetails,
): Sent {
  const answered = result.kind === 'response';
  const outcome = classifyOutcome(result);
  const keepsHeaders = details === 'all' || (details === 'failures' && outcome.kind !== 'delivered');
  return {
    outcome,
    statusCode: answered ? result.statusCode : null,
    durationMs: Math.round(result.durationMs),
    response: answered ? result.excerpt : null,
    request: details === 'none' ? null : request,
    responseHeaders: answered && keepsHeaders ? firstHeaders(result.headers) : null,
    traceparent,
  };
}

// Maximum number of headers of a response that are kept, and maximum characters of one and of all.
const headersMax = 20;
const headerLengthMax = 512;
const headersLengthMax = 2_048;

function firstHeaders(headers: CallbackResponse['headers']): Record<string, string> {
  const kept: Record<string, string> = {};
  let [count, left] = [0, headersLengthMax];
  for (const [name, value] of Object.entries(headers)) {
    const text = cutText(typeof value === 'string' ? value : (value ?? []).join(', '), headerLengthMax);
    left -= name.length + text.length;
    if (count === headersMax || left < 0) break;
    kept[name] = text.toWellFormed();
    count += 1;
  }
  return kept;
}

/** The keys to sign with at a time (ms), the newest of each algorithm first. */
function createKeyring(secrets: readonly SigningSecret[]): (now: number) => readonly KeyObject[] {
  const keys = new Map(secrets.map(({ text }) => [text, parseSigner(text)]));
  const all = secrets.flatMap(({ text }) => keys.get(text) ?? []);
  const expires = secrets.some(({ expiresAt }) => expiresAt !== null);
  if (!expires) return () => all;
  return (now) => validSecrets(secrets, now).flatMap((text) => keys.get(text) ?? []);
}
