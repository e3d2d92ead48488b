import type { KeyObject } from 'node:crypto';
import type { LogEntry } from '../events/event-log.ts';
import { parseSecret, validSecrets, type SigningSecret } from '../subscriptions/signing-secret.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { CallbackClient } from './callback-client.ts';
import { failedBeforehand } from './exchange.ts';
import { classifyOutcome, type CallbackOutcome } from './outcome.ts';
import type { CallbackResult } from './result.ts';
import { formatBody } from './body-formats.ts';
import { signedHeaders } from './sign.ts';

/** The result of one attempt. */
export interface Sent {
  readonly outcome: CallbackOutcome;
  /** Null when there was no response. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** The first 1 KiB of the response as text; null when there was none. */
  readonly response: string | null;
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
}

/**
 * A sender for a subscription with its present settings. Every failure is an outcome, also that of an event
 * which cannot be written in the subscription's format. Rejects only once the client is closed, which is no
 * attempt.
 */
export function createCallbackSender(
  { client, wallClock, now }: SendCallbackDeps,
  subscription: Subscription,
): CallbackSender {
  const { account, url, headers, secrets } = subscription;
  const keysAt = createKeyring(secrets);
  const requestOf = (entry: Pick<LogEntry, 'id' | 'filingId' | 'body'>) => {
    const { contentType, bytes } = formatBody(subscription, entry);
    const timestamp = Math.floor(wallClock() / 1000);
    return {
      url,
      headers: {
        ...headers,
        'content-type': contentType,
        ...signedHeaders(keysAt(now()), entry.id, timestamp, bytes),
      },
      body: bytes,
      account,
    };
  };
  return async (entry) => {
    let request;
    try {
      request = requestOf(entry);
    } catch {
      return toSent(failedBeforehand('sender_error'));
    }
    return toSent(await client.post(request));
  };
}

function toSent(result: CallbackResult): Sent {
  const answered = result.kind === 'response';
  return {
    outcome: classifyOutcome(result),
    statusCode: answered ? result.statusCode : null,
    durationMs: Math.round(result.durationMs),
    response: answered ? result.excerpt : null,
  };
}

/** The keys to sign with at a time (ms), newest first. */
function createKeyring(secrets: readonly SigningSecret[]): (now: number) => readonly KeyObject[] {
  const keys = new Map(secrets.map(({ text }) => [text, parseSecret(text)]));
  const all = secrets.flatMap(({ text }) => keys.get(text) ?? []);
  const expires = secrets.some(({ expiresAt }) => expiresAt !== null);
  if (!expires) return () => all;
  return (now) => validSecrets(secrets, now).flatMap((text) => keys.get(text) ?? []);
}
