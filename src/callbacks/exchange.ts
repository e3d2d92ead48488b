import type { Dispatcher } from 'undici';
import { FAILURE_DETAILS, failureCodeOf } from './result.ts';
import type { CallbackFailure, CallbackFailureCode, CallbackResponse, CallbackResult } from './result.ts';
import type { Abortable, UnderWay } from './under-way.ts';

/** How much of a response body is kept, and beyond how much the connection is destroyed, in bytes. */
const EXCERPT_BYTES_MAX = 1024;
const BODY_BYTES_MAX = 16_384;

const INTERIM_RESPONSES_MAX = 16;

/**
 * The bounds of one exchange: a deadline for the whole of it. `again` is asked once, when
 * the connection broke before any answer: it may dispatch the same handler anew, and says whether it did.
 */
export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly again?: (handler: Dispatcher.DispatchHandler, error: Error) => boolean;
  /** Where the exchange stands while it is under way. */
  readonly underWay: UnderWay;
}

/**
 * Runs one request through `dispatch` and collects what came of it. Resolves once: when the body has ended,
 * broken, grown too large, or at the deadline, whichever is first. Rejects with the signal's reason if that
 * fires before headers have arrived, and with undici's error if its agent was shut down; neither is an
 * attempt. Memory stays within the excerpt and one read of the socket.
 */
export function runExchange(
  dispatch: (handler: Dispatcher.DispatchHandler) => void,
  limits: ExchangeLimits,
): Promise<CallbackResult> {
  return new Promise((resolve, reject) => {
    dispatch(new Exchange(limits, resolve, reject));
  });
}

/** A failure that is known before anything is sent. */
export function failedBeforehand(code: CallbackFailureCode): CallbackFailure {
  return { kind: 'failure', code, detail: FAILURE_DETAILS[code], sent: false, durationMs: 0 };
}

/**
 * A class, for undici calls these methods for every callback: objects of one shape with shared methods are
 * what the engine likes.
 */
class Exchange implements Dispatcher.DispatchHandler, Abortable {
  readonly #startedAt = performance.now();
  readonly #resolve: (result: CallbackResult) => void;
  readonly #reject: (error: unknown) => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #underWay: UnderWay;
  readonly #place: number;
  #again: ExchangeLimits['again'];
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #answered = false;
  #interimResponses = 0;
  #statusCode = 0;
  #retryAfter: string | null = null;
  #receivedAtMs = 0;
  #excerpt: Buffer | null = null;
  #bodyBytes = 0;

  constructor(
    limits: ExchangeLimits,
    resolve: (result: CallbackResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#again = limits.again;
    this.#underWay = limits.underWay;
    this.#place = limits.underWay.add(this);
    this.#deadline = setTimeout(() => this.#cutOff('timeout'), limits.timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) controller.abort(new Error('settled while waiting for a connection'));
    else this.#controller = controller;
  }

  /** The first byte of an answer is here. */
  onResponseStarted(): void {
    this.#answered = true;
  }

  onResponseStart(
    _: unknown,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#settled) return;
    if (statusCode < 200) {
      this.#interimResponses += 1;
      if (this.#interimResponses > INTERIM_RESPONSES_MAX) this.#cutOff('malformed_response');
      return;
    }
    const retryAfter = headers['retry-after'];
    this.#statusCode = statusCode;
    this.#retryAfter = typeof retryAfter === 'string' ? retryAfter : null;
    this.#receivedAtMs = Date.now();
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#settled) return;
    const room = EXCERPT_BYTES_MAX - this.#bodyBytes;
    if (room > 0) this.#keep(chunk.subarray(0, room));
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > BODY_BYTES_MAX) this.#cutOff('response_too_large');
  }

  onResponseEnd(): void {
    this.#settle(this.#response('complete'));
  }

  onResponseError(_: unknown, error: Error & { readonly code?: unknown }): void {
    if (error.code === 'UND_ERR_DESTROYED' || error.code === 'UND_ERR_CLOSED') this.#abandon(error);
    else if (!this.#isSentAgain(error))
      this.#settle(this.#statusCode === 0 ? this.#failure(failureCodeOf(error)) : this.#response('broken'));
  }

  abort(): void {
    this.#cutOff('aborted');
  }

  #isSentAgain(error: Error): boolean {
    const again = this.#again;
    this.#again = undefined;
    return !this.#settled && !this.#answered && again?.(this, error) === true;
  }

  /** Copies, for the chunk is a view of a whole read of the socket. */
  #keep(bytes: Buffer): void {
    this.#excerpt = this.#excerpt === null ? Buffer.from(bytes) : Buffer.concat([this.#excerpt, bytes]);
  }

  #cutOff(code: CallbackFailureCode): void {
    this.#settle(this.#statusCode === 0 ? this.#failure(code) : this.#response('cut'));
    this.#controller?.abort(new Error(code));
  }

  /** What has been acknowledged stays acknowledged: with headers there is a result to give. */
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
    this.#underWay.remove(this.#place);
  }

  #response(body: CallbackResponse['body']): CallbackResponse {
    return {
      kind: 'response',
      statusCode: this.#statusCode,
      retryAfter: this.#retryAfter,
      receivedAtMs: this.#receivedAtMs,
      excerpt: this.#excerpt?.toString() ?? '',
      body,
      durationMs: performance.now() - this.#startedAt,
    };
  }

  #failure(code: CallbackFailureCode): CallbackFailure {
    return {
      kind: 'failure',
      code,
      detail: FAILURE_DETAILS[code],
      // undici starts a request only on a connection that is ready.
      sent: this.#controller !== null,
      durationMs: performance.now() - this.#startedAt,
    };
  }
}
