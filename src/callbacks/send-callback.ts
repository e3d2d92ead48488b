import type { KeyObject } from 'node:crypto';
import type { LogEntry } from '../events/event-log.ts';
import { parseSecret, validSecrets, type SigningSecret } from '../subscriptions/signing-secret.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { CallbackClient } from './callback-client.ts';
import { failedBeforehand } from './exchange.ts';
import { classifyOutcome, type CallbackOutcome } from './outcome.ts';
import type { CallbackResponse, CallbackResult } from './result.ts';
import { formatBody } from './body-formats.ts';
import { signedHeaders } from './sign.ts';

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
 * attempt.
 */
export function createCallbackSender(
  { client, wallClock, now, attemptDetails = 'failures', publicUrl = null }: SendCallbackDeps,
  subscription: Subscription,
): CallbackSender {
  const { account, url, headers, secrets } = subscription;
  const keysAt = createKeyring(secrets);
  const written = { ...subscription, publicUrl };
  const requestOf = (entry: Pick<LogEntry, 'id' | 'filingId' | 'body'>) => {
    const { contentType, bytes } = formatBody(written, entry);
    const timestamp = Math.floor(wallClock() / 1000);
    const signed = signedHeaders(keysAt(now()), entry.id, timestamp, bytes);
    return {
      kept: { timestamp, signature: signed['webhook-signature'] },
      callback: {
        url,
        headers: { ...headers, 'content-type': contentType, ...signed },
        body: bytes,
        account,
      },
    };
  };
  return async (entry) => {
    let request;
    try {
      request = requestOf(entry);
    } catch {
      return toSent(failedBeforehand('sender_error'), null, attemptDetails);
    }
    return toSent(await client.post(request.callback), request.kept, attemptDetails);
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
    const text = (typeof value === 'string' ? value : (value ?? []).join(', ')).slice(0, headerLengthMax);
    left -= name.length + text.length;
    if (count === headersMax || left < 0) break;
    kept[name] = text.toWellFormed();
    count += 1;
  }
  return kept;
}

/** The keys to sign with at a time (ms), newest first. */
function createKeyring(secrets: readonly SigningSecret[]): (now: number) => readonly KeyObject[] {
  const keys = new Map(secrets.map(({ text }) => [text, parseSecret(text)]));
  const all = secrets.flatMap(({ text }) => keys.get(text) ?? []);
  const expires = secrets.some(({ expiresAt }) => expiresAt !== null);
  if (!expires) return () => all;
  return (now) => validSecrets(secrets, now).flatMap((text) => keys.get(text) ?? []);
}
