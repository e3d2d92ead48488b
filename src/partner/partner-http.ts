import type { IncomingMessage } from 'node:http';
import got, { RequestError, type Got } from 'got';
import type { HostLookup } from '../names/host-lookup.ts';
import { describeAttempts, lookupFunction } from '../names/dialling.ts';
import { createProxyAgents, type ProxyAgents } from '../proxy/proxy-agents.ts';
import { ProxyError } from '../proxy/proxy-error.ts';
import type { Clock } from '../redis/clock.ts';
import { parseRetryAfter } from '../waiting/retry-after.ts';
import type { AnswerRoom } from './answer-room.ts';
import { AnswerExcess, isRateLimit, PartnerError } from './partner-error.ts';

/** One HTTP answer of the partner service, whatever its status. */
export interface PartnerAnswer {
  readonly status: number;
  /** Without its codings; empty unless the status is 2xx. */
  readonly body: Buffer;
  /** Whether the service refuses the request because there were too many. */
  readonly isRateLimited: boolean;
  /** The `Content-Encoding` of the body that could not be undone; undefined for none. */
  readonly unknownCoding: string | undefined;
  /** Milliseconds from the moment of the answer, or null if it has no readable `Retry-After`. */
  readonly retryAfterMs: number | null;
  /** To be called when the body is not needed any more. */
  readonly release: () => void;
}

/** A request, and how its answer is to be read. */
export interface Asked {
  /** Names the request in errors. */
  readonly endpoint: string;
  readonly path: string;
  /** The room that a large answer takes. */
  readonly room: AnswerRoom;
}

export interface PartnerHttpDeps {
  readonly baseUrl: string;
  readonly partnerKey: string;
  /** Deadline of a whole request, body included. */
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'now'>;
  /** Finds the addresses of the service's host; without one, the system's own lookup does. */
  readonly lookup?: HostLookup;
  /** Agents that connect to the service; its own without these. */
  readonly agents?: ProxyAgents | null;
  /** The account whose lookups and large answers these are. */
  readonly account?: string;
}

/** Maximum bytes of a body, with and without its codings: a larger one would hold up the process. */
export const bodyBytesMax = 2 * 1024 * 1024;
// Maximum bytes of an answer that need no room.
const roomlessBytesMax = 1024 * 1024;
// Maximum bytes of an error's body that are read, so that its connection can be used again.
const unreadBytesMax = 64 * 1024;

/**
 * GET requests with the account's key to the account's base address and to nothing else, over got, which is
 * configured to do nothing by itself.
 */
export function createPartnerHttp(deps: PartnerHttpDeps) {
  const http = createGot(deps);
  const { clock, timeoutMs } = deps;
  return {
    /**
     * One request, without redirects or repeats. A coding of the answer that was not asked for is undone.
     * Rejects with PartnerError when there is no whole answer within the deadline, and with AnswerExcess as
     * soon as it is too large, the connection cut. An answer of more than a mebibyte waits for room; the
     * deadline waits with it.
     */
    async get({ endpoint, path, room }: Asked, signal: AbortSignal): Promise<PartnerAnswer> {
      const attempt = openAttempt(signal, timeoutMs);
      // The room that the answer has taken, once.
      const taken: (() => void)[] = [];
      const release = () => taken.forEach((giveBack) => giveBack());
      const fit = async (bytes: number) => {
        if (bytes > bodyBytesMax) throw new AnswerExcess('bytes', bodyBytesMax);
        if (bytes > roomlessBytesMax && taken.length === 0)
          taken.push(await attempt.untimed(room.take(attempt.signal)));
      };
      try {
        const stream = http.stream(path, { signal: attempt.signal });
        const chunks: Buffer[] = [];
        await arrive(stream, () => stream.response, chunks, fit);
        const { statusCode = 0, headers = {} } = stream.response ?? {};
        return {
          status: statusCode,
          body: Buffer.concat(chunks),
          unknownCoding: headers['content-encoding'],
          retryAfterMs: parseRetryAfter(headers['retry-after'], clock.now()),
          isRateLimited: isRateLimit(statusCode, headers),
          release,
        };
      } catch (error) {
        release();
        if (error instanceof AnswerExcess) throw error;
        throw attempt.isLate()
          ? new PartnerError('timeout', `GET ${endpoint} took too long`)
          : translate(endpoint, error, signal);
      } finally {
        attempt.close();
      }
    },
  };
}

/** Milliseconds for a connection, so that its failure can be named before the deadline of a request. */
export function connectMsOf(timeoutMs: number): number {
  return timeoutMs * 0.9;
}

function createGot({
  baseUrl,
  partnerKey,
  timeoutMs,
  lookup,
  agents = null,
  account = '',
}: PartnerHttpDeps): Got {
  return got.extend({
    prefixUrl: baseUrl,
    headers: {
      PartnerKey: partnerKey,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'filing-webhooks',
    },
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    agent: agents ?? createProxyAgents(null, connectMsOf(timeoutMs)),
    ...(lookup === undefined
      ? {}
      : { dnsLookup: lookupFunction((hostname) => lookup(hostname, `polls ${account}`)) }),
  });
}

type AnswerHead = Pick<IncomingMessage, 'headers'> & { readonly statusCode: number };

/**
 * Puts the body of an answer into `chunks`, unless its status says that it is of no use; `fit` is called with
 * the number of bytes so far. It resolves to nothing: requests of got that were collected late keep later
 * ones, and what their readers resolve to, from being collected young. That would be the bodies of all pages.
 */
async function arrive(
  stream: AsyncIterable<unknown>,
  head: () => AnswerHead | undefined,
  chunks: Buffer[],
  fit: (bytes: number) => Promise<void>,
): Promise<void> {
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      length += chunk.length;
      const { statusCode = 0, headers = {} } = head() ?? {};
      if (isOk(statusCode)) {
        await fit(Math.max(length, Number(headers['content-length']) || 0));
        chunks.push(chunk);
      } else if (length > unreadBytesMax) return;
    }
  } catch (error) {
    const { statusCode = 0 } = head() ?? {};
    if (!isBrokenCoding(error) || isOk(statusCode) || statusCode === 0) throw error;
  }
}

// By the errors of zlib, brotli and zstd.
function isBrokenCoding(error: unknown): boolean {
  const { code = '' } = (error instanceof RequestError ? error.cause : {}) as NodeJS.ErrnoException;
  return /^(?:Z_|ERR__ERROR_|ERR_BROTLI|ZSTD_)/.test(code);
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

// The poll's signal lives long and is shared, so each request takes its listener away again.
function openAttempt(signal: AbortSignal, timeoutMs: number) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let isLate = false;
  let leftMs = timeoutMs;
  let timedFrom = 0;
  let timer: NodeJS.Timeout | undefined;
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  resume();

  function resume(): void {
    timedFrom = performance.now();
    timer = setTimeout(() => {
      isLate = true;
      abort();
    }, leftMs);
  }

  function pause(): void {
    clearTimeout(timer);
    leftMs = Math.max(0, leftMs - (performance.now() - timedFrom));
  }

  return {
    signal: controller.signal,
    isLate: () => isLate,
    /** Waits without the deadline's coming nearer. */
    async untimed<T>(work: Promise<T>): Promise<T> {
      pause();
      try {
        return await work;
      } finally {
        resume();
      }
    },
    close() {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    },
  };
}

function translate(endpoint: string, error: unknown, signal: AbortSignal): PartnerError {
  if (signal.aborted) return new PartnerError('aborted', `GET ${endpoint} was stopped`);
  if (error instanceof RequestError && error.cause instanceof ProxyError)
    return new PartnerError('proxy', `GET ${endpoint} failed: ${error.cause.message}`);
  const code = error instanceof RequestError ? error.code : 'ERR_UNKNOWN';
  if (isBrokenCoding(error))
    return new PartnerError(
      'invalid_response',
      `GET ${endpoint} answered with a coding that is cut or broken`,
    );
  const dialled =
    (error instanceof RequestError && error.cause instanceof Error && describeAttempts(error.cause)) || '';
  if (code === 'ETIMEDOUT')
    return new PartnerError('timeout', `GET ${endpoint} took too long${dialled && `: ${dialled}`}`);
  return new PartnerError('network', `GET ${endpoint} failed: ${code}${dialled && ` (${dialled})`}`);
}
