import { done, json, refuse, type Answer } from './answer.ts';
import { CallbackError, ConfigurationError } from './errors.ts';
import { isChallenge, isKnownEvent, type AnyEvent, type UnknownEvent } from './events/event.ts';
import type { KnownEvent } from './events/events.ts';
import type { EventFormat } from './events/read-event.ts';
import type { Delivery, Store } from './stores/store.ts';
import type { HeadersLike } from './verification/headers.ts';
import { createVerifier, type Callback, type VerifierOptions } from './verification/verifier.ts';

/** What a handler gets beside the event. */
export interface HandlerContext<Transaction> {
  /** Name of the event, the same on every attempt and replay. */
  readonly webhookId: string;
  /** When this attempt was signed. */
  readonly sentAt: Date;
  readonly format: EventFormat;
  /** The verified bytes: JSON in which numbers have all their digits. */
  readonly body: Uint8Array;
  /** The transaction in which the store writes its mark: what is written in it has its effect exactly once. Undefined with other stores. */
  readonly transaction: Transaction;
  /** True where a newer event of the filing was handled before; only with `stale: 'handle'`. */
  readonly isStale: boolean;
}

/** How callbacks are received. */
export type ReceiverOptions<Transaction> = VerifierOptions & {
  /** Where it is remembered what was handled: `redisStore`, `postgresStore`, `memoryStore`, or one of your own. */
  readonly store: Store<Transaction>;
  /** Handles an event. When it rejects, the callback is answered with 500 and delivered again. */
  readonly handle: (event: KnownEvent, context: HandlerContext<Transaction>) => Promise<void> | void;
  /** The same for events of later versions. Default: they are acknowledged and leave no mark. */
  readonly handleUnknown?: (
    event: UnknownEvent,
    context: HandlerContext<Transaction>,
  ) => Promise<void> | void;
  /**
   * What becomes of an event that arrives after a newer one of its filing, such as a dead letter that is replayed: `drop` acknowledges it, right for a
   * receiver that keeps states; `handle` gives it to the handler with `isStale`, right for one that keeps every event. Default `drop`.
   */
  readonly stale?: 'drop' | 'handle';
  /** The accounts whose events are taken; others are answered with 403. Required with a `keySetUrl` without `subscription`. Default all. */
  readonly accounts?: readonly string[];
  /** Maximum of bytes of a body. Default 1 048 576: the largest callback is smaller. */
  readonly bodyBytesMax?: number;
  /** Called with what was not answered 2xx; it may not throw. Default: what is no fault of the callback is written to the console. */
  readonly onError?: (error: CallbackError) => void;
};

/** A request as a receiver needs it. */
export interface CallbackRequest {
  readonly method: string;
  readonly headers: HeadersLike;
  /** The bytes as received, or what reads them: it throws CallbackError `body_too_large` above the limit. */
  readonly body: Uint8Array | ((bytesMax: number) => Promise<Uint8Array>);
}

/** Receives callbacks, whatever the framework. */
export interface Receiver {
  /** Rejects with ConfigurationError where a key is none; a program may await it at its start. */
  readonly ready: Promise<void>;
  /** Maximum of bytes of a body. */
  readonly bodyBytesMax: number;
  /** Verifies a callback and handles it. Never rejects: what goes wrong is an answer too. */
  receive(request: CallbackRequest): Promise<Answer>;
}

/**
 * Receives callbacks: verifies, drops what was handled before, calls the handler, and says how to answer. An event is acknowledged only after its
 * handler has resolved and its mark is written, so none is lost. Throws ConfigurationError where the options contradict each other.
 */
export function createReceiver<Transaction>(options: ReceiverOptions<Transaction>): Receiver {
  checkOptions(options);
  const verifier = createVerifier(options);
  const { store, accounts, bodyBytesMax = 1_048_576, onError = report } = options;

  async function receiveVerified(callback: Callback, body: Uint8Array): Promise<Answer> {
    const { event } = callback;
    checkAccount(event, accounts);
    if (isChallenge(event)) return json(200, { challenge: event.data.challenge }, 'confirmed');
    const handle = handlerOf(event, options);
    if (handle === null) return done('ignored');
    const { id: webhookId, sentAt, format } = callback;
    let failure: unknown = null;
    try {
      const delivery = toDelivery(webhookId, event, options.stale ?? 'drop');
      const taken = await store.take(delivery, async (turn) => {
        try {
          await handle({ webhookId, sentAt, format, body, ...turn });
        } catch (error) {
          failure = { error };
          throw error;
        }
      });
      if (taken === 'in_flight') throw inFlight();
      return done(taken);
    } catch (error) {
      if (error instanceof CallbackError) throw error;
      throw failure === null ? storeFailed(error) : handlerFailed(error);
    }
  }

  async function receive({ method, headers, body }: CallbackRequest): Promise<Answer> {
    if (method !== 'POST')
      throw new CallbackError('method_not_allowed', 'Callbacks are sent with POST to this address.');
    const bytes = typeof body === 'function' ? await body(bodyBytesMax) : body;
    if (bytes.length > bodyBytesMax) throw tooLarge(bodyBytesMax);
    return receiveVerified(await verifier.verify(headers, bytes), bytes);
  }

  return {
    ready: verifier.ready,
    bodyBytesMax,
    receive: (request) =>
      receive(request).catch((error: unknown) => {
        const known = error instanceof CallbackError ? error : misconfigured(error);
        onError(known);
        return refuse(known);
      }),
  };
}

/** The error for a body that is longer than allowed. */
export function tooLarge(bytesMax: number): CallbackError {
  return new CallbackError(
    'body_too_large',
    `The body has more than ${bytesMax} bytes: raise bodyBytesMax, or set payload of the subscription to thin.`,
  );
}

/** Throws the error for a request that ended before its body did. */
export function cutShort(cause?: unknown): never {
  throw new CallbackError('malformed_body', 'The request ended before its body did.', { cause });
}

function checkOptions<Transaction>(options: ReceiverOptions<Transaction>): void {
  const { keySetUrl, accounts, store, handle } = options;
  if (typeof store?.take !== 'function')
    throw new ConfigurationError('store is missing: give redisStore, postgresStore or memoryStore.');
  if (typeof handle !== 'function')
    throw new ConfigurationError('handle is missing: give a function of an event.');
  if (keySetUrl === undefined || accounts !== undefined) return;
  if (URL.canParse(String(keySetUrl)) && new URL(String(keySetUrl)).searchParams.has('subscription')) return;
  throw new ConfigurationError(
    'keySetUrl lists the keys of all subscriptions of the daemon: add ?subscription=sub_… of yours, or give accounts.',
  );
}

function checkAccount({ data }: AnyEvent, accounts: readonly string[] | undefined): void {
  const account = String((data as { readonly account?: unknown }).account);
  if (accounts === undefined || accounts.includes(account)) return;
  throw new CallbackError(
    'account_refused',
    'The callback is about an account that this receiver does not take: add it to accounts, or delete the subscription.',
  );
}

function handlerOf<Transaction>(
  event: AnyEvent,
  { handle, handleUnknown }: ReceiverOptions<Transaction>,
): ((context: HandlerContext<Transaction>) => Promise<void> | void) | null {
  if (isKnownEvent(event)) return (context) => handle(event, context);
  return handleUnknown === undefined ? null : (context) => handleUnknown(event, context);
}

function toDelivery(webhookId: string, event: AnyEvent, stale: 'drop' | 'handle'): Delivery {
  const { account, filingId, sequence } = event.data as Readonly<Record<string, unknown>>;
  if (typeof account !== 'string')
    throw new CallbackError('malformed_body', 'data.account of the event is no text.');
  const takes = stale === 'handle' ? 'any' : event.type === 'filing.snapshot' ? 'equal' : 'greater';
  if (filingId === undefined) return { webhookId, account, filing: null, takes };
  if (typeof filingId !== 'string' || !Number.isSafeInteger(sequence))
    throw new CallbackError(
      'malformed_body',
      'data.filingId or data.sequence of the event has another form.',
    );
  return { webhookId, account, filing: { id: filingId, sequence: Number(sequence) }, takes };
}

function inFlight(): CallbackError {
  return new CallbackError(
    'in_flight',
    'Another delivery about the same filing is still being handled: this one is taken when it has ended.',
    { retryAfterSeconds: 1 },
  );
}

function handlerFailed(cause: unknown): CallbackError {
  return new CallbackError('handler_failed', 'The handler failed: the log of the receiver says why.', {
    cause,
  });
}

function storeFailed(cause: unknown): CallbackError {
  return new CallbackError(
    'store_failed',
    'The store of the receiver failed: its log says why. Nothing is acknowledged until it can be remembered.',
    { cause },
  );
}

function misconfigured(cause: unknown): CallbackError {
  const isOurs = cause instanceof ConfigurationError;
  return new CallbackError(
    'misconfigured',
    isOurs ? cause.message : 'The receiver failed: its log says why.',
    { cause },
  );
}

// A forged callback must not be able to fill a log, so only what is the receiver's own fault is written.
function report(error: CallbackError): void {
  if (error.status >= 500 && error.code !== 'in_flight') console.error(error);
}
