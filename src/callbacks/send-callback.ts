import type { KeyObject } from 'node:crypto';
import { heavyBytes } from '../events/body-memo.ts';
import type { LogEntry } from '../events/event-log.ts';
import { parseSigner, validSecrets, versionOf, type SigningSecret } from '../subscriptions/signing-secret.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { CallbackClient } from './callback-client.ts';
import { failedBeforehand } from './exchange.ts';
import { sendAuthorized, type Bearers } from './bearers.ts';
import { classifyOutcome, outcomeWithoutToken, type CallbackOutcome } from './outcome.ts';
import type { CallbackFailureCode, CallbackResponse, CallbackResult } from './result.ts';
import { formatBody, type CallbackBody } from './body-formats.ts';
import { signedHeaders, signedHeadersInThreads, type SignedHeaders } from './sign.ts';
import { identityOf } from '../subscriptions/options/tls.ts';
import { cutText } from '../json/cut-text.ts';
import { takeTurns } from '../json/turns.ts';

/** Which attempts keep more than their outcome: their request, and the headers of the response. */
export type AttemptDetails = 'none' | 'failures' | 'all';

/** The part of a request that its settings and its event do not show. */
export interface SentRequest {
  /** The `webhook-timestamp`: whole seconds on the wall clock of the process that sent it. */
  readonly timestamp: number;
  /** The `webhook-signature`. */
  readonly signature: string;
}

/** The result of one attempt. */
export interface Sent {
  readonly outcome: CallbackOutcome;
  /** Null when there was no response. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** The first 1 KiB of the response as text; null when there was none. */
  readonly response: string | null;
  /** Null when nothing could be written, and where no details are kept. */
  readonly request: SentRequest | null;
  /** The first headers of the response; null when there was none, and where they are not kept. */
  readonly responseHeaders: Readonly<Record<string, string>> | null;
}

/** Sends events to one subscription; keeps its signing keys in memory. */
export type CallbackSender = (entry: Pick<LogEntry, 'id' | 'filingId' | 'body'>) => Promise<Sent>;

export interface SendCallbackDeps {
  readonly client: CallbackClient;
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
  /** Address of the page, for links in messages; null where it is not known. */
  readonly publicUrl?: string | null;
}

/**
 * A sender for a subscription with its present settings. Every failure is an outcome, also that of an event
 * which cannot be written in the subscription's format. Rejects only once the client is closed, which is no
 * attempt, and where Redis fails.
 */
export function createCallbackSender(deps: SendCallbackDeps, subscription: Subscription): CallbackSender {
  const send = createSender(deps, subscription);
  if (subscription.format !== 'slack' && subscription.format !== 'teams') return send;
  // A message shows members of the filing. Parsing a heavy one takes milliseconds, so each has a turn.
  return (entry) =>
    entry.body.length < heavyBytes
      ? send(entry)
      : takeTurns()
          .next()
          .then(() => send(entry));
}

function createSender(
  { client, bearers, wallClock, now, attemptDetails = 'failures', publicUrl = null }: SendCallbackDeps,
  subscription: Subscription,
): CallbackSender {
  const { account, url, headers, secrets, auth, timeoutMs = null } = subscription;
  const keysAt = createKeyring(secrets);
  const hasSlowKeys = secrets.some(({ text }) => versionOf(text) === 'v1a');
  const written = { ...subscription, publicUrl };
  const identity = identityOf(subscription.tls);
  type Entry = Parameters<CallbackSender>[0];
  type SignedRequest = Awaited<ReturnType<typeof signedRequest>>;
  const signedRequest = (entry: Entry, { contentType, bytes }: CallbackBody) => {
    const timestamp = Math.floor(wallClock() / 1000);
    const signedBy = (signed: SignedHeaders) => ({
      kept: { timestamp, signature: signed['webhook-signature'] },
      callback: {
        url,
        headers: {
          ...headers,
          'content-type': contentType,
          'webhook-id': signed['webhook-id'],
          'webhook-timestamp': signed['webhook-timestamp'],
          'webhook-signature': signed['webhook-signature'],
        },
        body: bytes,
        account,
        identity,
        timeoutMs,
      },
    });
    return hasSlowKeys
      ? signedHeadersInThreads(keysAt(now()), entry.id, timestamp, bytes).then(signedBy)
      : signedBy(signedHeaders(keysAt(now()), entry.id, timestamp, bytes));
  };
  const format = (entry: Entry): CallbackBody | null => {
    try {
      return formatBody(written, entry);
    } catch {
      return null;
    }
  };
  const sign = (entry: Entry, body: CallbackBody) => {
    try {
      const request = signedRequest(entry, body);
      return request instanceof Promise ? request.catch(() => null) : request;
    } catch {
      return null;
    }
  };
  const failed = (code: CallbackFailureCode) => toSent(failedBeforehand(code), null, attemptDetails);
  const bearer = auth == null ? undefined : bearers?.(account, subscription.id, auth);
  if (auth == null) {
    const post = (request: SignedRequest | null): Promise<Sent> => {
      if (request === null) return Promise.resolve(failed('sender_error'));
      const { callback, kept } = request;
      return client.post(callback).then((result) => toSent(result, kept, attemptDetails));
    };
    // Only slow keys are waited for.
    return (entry) => {
      const body = format(entry);
      const request = body === null ? null : sign(entry, body);
      return request instanceof Promise ? request.then(post) : post(request);
    };
  }
  return async (entry) => {
    const startedAt = performance.now();
    const body = format(entry);
    if (body === null || bearer === undefined) return failed('sender_error');
    let kept: SentRequest | null = null;
    const result = await sendAuthorized(bearer, async (authorization) => {
      // Signed with the token at hand, because the time is that of the request.
      const request = await sign(entry, body);
      if (request === null) return failedBeforehand('sender_error');
      ({ kept } = request);
      const { callback } = request;
      return client.post({ ...callback, headers: { ...callback.headers, authorization } });
    });
    if (result.kind === 'unasked') return toSent(result.failure, null, attemptDetails);
    if (result.kind !== 'failed') return toSent(result, kept, attemptDetails);
    return unsent(outcomeWithoutToken(result), performance.now() - startedAt);
  };
}

function unsent(outcome: CallbackOutcome, durationMs: number): Sent {
  return {
    outcome,
    statusCode: null,
    durationMs: Math.round(durationMs),
    response: null,
    request: null,
    responseHeaders: null,
  };
}

function toSent(result: CallbackResult, request: SentRequest | null, details: AttemptDetails): Sent {
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
