import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';
import { detailOfSilence, failureDetails, failureOf } from './result.ts';
import type { CallbackFailure, CallbackFailureCode, CallbackResponse, CallbackResult } from './result.ts';

/** Maximum bytes of a response body; the connection of a larger one is destroyed. */
export const bodyBytesMax = 16_384;
// Maximum bytes that are kept of it.
const excerptBytesDefault = 1024;

const noHeaders: CallbackResponse['headers'] = {};

/** The request of one exchange. */
export interface ExchangeRequest {
  /** Milliseconds for the whole of it. */
  readonly timeoutMs: number;
  /** Maximum bytes that are kept of the response body: 1 KiB without it. */
  readonly excerptBytesMax: number | undefined;
  /** The addresses that were tried for its connection. */
  readonly dialled: string[];
}

/** An exchange in flight that can be aborted. */
export interface Abortable {
  /** Its index among the exchanges in flight. */
  place: number;
  /**
   * Ends it at once: the exchange resolves to a failure `aborted`, or to the response whose headers have
   * arrived.
   */
  abort(): void;
}

/** The operations of a client that all of its exchanges use. */
export interface ExchangeWays<Request extends ExchangeRequest> {
  dispatch(request: Request, handler: Dispatcher.DispatchHandler): void;
  /**
   * Called once for an exchange, when its connection broke before any byte of a response. It may dispatch the
   * same handler again, and returns whether it did.
   */
  again(request: Request, handler: Dispatcher.DispatchHandler): boolean;
  /**
   * Holds the exchanges while they are in flight, in any order. An array, because a Set grows out of its
   * table again and again: each former table keeps thousands of ended exchanges until old memory is
   * collected, which costs an eighth of all callbacks a second.
   */
  readonly underWay: Abortable[];
}

/**
 * Runs one request and collects its result. Resolves once: when the body has ended, broken or grown too
 * large, or at the deadline. Rejects with undici's error if its agent was shut down before headers arrived,
 * which is no attempt. Memory stays within the excerpt and one read of the socket.
 */
export function runExchange<Request extends ExchangeRequest>(
  ways: ExchangeWays<Request>,
  request: Request,
): Promise<CallbackResult> {
  return new Promise((resolve, reject) => {
    ways.dispatch(request, new Exchange(ways, request, resolve, reject));
  });
}

/** A failure that is known before anything is sent. */
export function failedBeforehand(code: CallbackFailureCode): CallbackFailure {
  return { kind: 'failure', code, detail: failureDetails[code], sent: false, durationMs: 0 };
}

/**
 * A class because undici calls these methods for every callback: the engine is fast with objects of one shape
 * and shared methods.
 */
class Exchange<Request extends ExchangeRequest> implements Dispatcher.DispatchHandler, Abortable {
  readonly #startedAt = performance.now();
  readonly #ways: ExchangeWays<Request>;
  readonly #request: Request;
  readonly #resolve: (result: CallbackResult) => void;
  readonly #reject: (error: unknown) => void;
  readonly #deadline: NodeJS.Timeout;
  place: number;
  #mayBeSentAgain = true;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #answered = false;
  #statusCode = 0;
  #headers = noHeaders;
  #receivedAtMs = 0;
  #excerpt: Buffer[] | null = null;
  #bodyBytes = 0;

  constructor(
    ways: ExchangeWays<Request>,
    request: Request,
    resolve: (result: CallbackResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.#ways = ways;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.place = ways.underWay.push(this) - 1;
    this.#deadline = setTimeout(() => this.#cutOff('timeout'), request.timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) controller.abort(new Error('settled while waiting for a connection'));
    else this.#controller = controller;
  }

  /** The first byte of a response has arrived. */
  onResponseStarted(): void {
    this.#answered = true;
  }

  onResponseStart(
    _: unknown,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#settled) return;
    this.#statusCode = statusCode;
    this.#headers = headers;
    this.#receivedAtMs = Date.now();
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#settled) return;
    const room = (this.#request.excerptBytesMax ?? excerptBytesDefault) - this.#bodyBytes;
    if (room > 0) this.#keep(chunk.subarray(0, room));
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > bodyBytesMax) this.#cutOff('response_too_large');
  }

  onResponseEnd(): void {
    this.#settle(this.#response('complete'));
  }

  onResponseError(_: unknown, error: Error & { readonly code?: unknown }): void {
    if (error.code === 'UND_ERR_DESTROYED' || error.code === 'UND_ERR_CLOSED') this.#abandon(error);
    else if (!this.#isSentAgain())
      this.#settle(this.#statusCode === 0 ? this.#failureOf(error) : this.#response('broken'));
  }

  abort(): void {
    this.#cutOff('aborted');
  }

  #isSentAgain(): boolean {
    const may = this.#mayBeSentAgain && !this.#settled && !this.#answered;
    this.#mayBeSentAgain = false;
    return may && this.#ways.again(this.#request, this);
  }

  /** Copies the bytes: the chunk is a view of a whole read of the socket. */
  #keep(bytes: Buffer): void {
    (this.#excerpt ??= []).push(Buffer.from(bytes));
  }

  #cutOff(code: CallbackFailureCode): void {
    this.#settle(this.#statusCode === 0 ? this.#failure(code) : this.#response('cut'));
    this.#controller?.abort(new Error(code));
  }

  /** An acknowledged event stays acknowledged: once headers have arrived, there is a result. */
  #abandon(reason: unknown): void {
    if (this.#statusCode !== 0) {
      this.#settle(this.#response('cut'));
    } else if (!this.#settled) {
      this.#finish();
      this.#reject(reason);
    }
    this.#controller?.abort(new Error('abandoned'));
  }

  #settle(result: CallbackResult): void {
    if (this.#settled) return;
    this.#finish();
    this.#resolve(result);
  }

  #finish(): void {
    this.#settled = true;
    clearTimeout(this.#deadline);
    this.#leave(this.#ways.underWay);
  }

  // The last one takes its place.
  #leave(underWay: Abortable[]): void {
    const last = underWay.pop();
    if (last === undefined || last === this) return;
    last.place = this.place;
    underWay[last.place] = last;
  }

  #response(body: CallbackResponse['body']): CallbackResponse {
    const retryAfter = this.#headers['retry-after'];
    return {
      kind: 'response',
      statusCode: this.#statusCode,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      receivedAtMs: this.#receivedAtMs,
      // Without the bytes of a character that goes on behind it.
      excerpt: this.#excerpt === null ? '' : new StringDecoder().write(Buffer.concat(this.#excerpt)),
      headers: this.#headers,
      body,
      durationMs: performance.now() - this.#startedAt,
    };
  }

  #failure(code: CallbackFailureCode): CallbackFailure {
    const sent = this.#isConnected();
    return {
      kind: 'failure',
      code,
      detail: sent ? failureDetails[code] : detailOfSilence(code, this.#request.dialled),
      sent,
      durationMs: performance.now() - this.#startedAt,
    };
  }

  #failureOf(error: Error): CallbackFailure {
    const durationMs = performance.now() - this.#startedAt;
    return { kind: 'failure', ...failureOf(error, this.#isConnected()), durationMs };
  }

  // undici starts a request only on a connection that is ready.
  #isConnected(): boolean {
    return this.#controller !== null;
  }
}
