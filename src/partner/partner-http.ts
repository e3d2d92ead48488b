import type { IncomingMessage } from 'node:http';
import got, { RequestError, type Got } from 'got';
import type { HostLookup } from '../names/host-lookup.ts';
import { DialError } from '../names/dial.ts';
import { lookupFunction } from '../names/lookup-function.ts';
import { createProxyAgents, type ProxyAgents } from '../proxy/proxy-agents.ts';
import { ProxyError } from '../proxy/proxy-error.ts';
import type { Clock } from '../redis/clock.ts';
import { parseRetryAfter } from '../waiting/retry-after.ts';
import { AnswerExcess } from './body/answer-excess.ts';
import {
  bodyBytesMax,
  createBodyCollector,
  type AnswerBody,
  type BodyCollector,
} from './body/answer-body.ts';
import { BrokenCoding, decoded, unknownCoding } from './body/content-coding.ts';
import type { AnswerRoom } from './body/answer-room.ts';
import { takeTurns } from '../json/turns.ts';
import { isRateLimit, PartnerError } from './partner-error.ts';

/** One HTTP answer of the partner service, whatever its status. */
export interface PartnerAnswer {
  readonly status: number;
  /** Empty unless the status is 2xx. */
  readonly body: AnswerBody;
  /** Whether the service refuses the request because there were too many. */
  readonly isRateLimited: boolean;
  /** The coding of the body that could not be undone; null for none. */
  readonly unknownCoding: string | null;
  /** From the moment of the answer, milliseconds; null without a `Retry-After` that can be read. */
  readonly retryAfterMs: number | null;
  /** To be called when the body is not needed any more. */
  readonly release: () => void;
}

/** A request, and how its answer is to be read. */
export interface Asked {
  /** Names the request in errors. */
  readonly endpoint: string;
  readonly path: string;
  readonly shape: 'page' | 'other';
  /** Where a large answer takes its room. */
  readonly room: AnswerRoom;
}

/** GET requests with the account's key to the account's base address and to nothing else. */
export interface PartnerHttp {
  /**
   * One request, without redirects or repeats. A coding of the answer that was not asked for is undone.
   * Rejects with PartnerError when there is no whole answer within the deadline, and with AnswerExcess, with
   * the connection cut, as soon as it is too large without its codings. An answer of more than a mebibyte
   * waits for room; the deadline waits with it.
   */
  get(asked: Asked, signal: AbortSignal): Promise<PartnerAnswer>;
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

// Maximum bytes of an answer that need no room.
const roomlessBytesMax = 1024 * 1024;
// Maximum bytes of an error's body that are read, so that its connection can be used again.
const unreadBytesMax = 64 * 1024;

/** Requests over got, which is configured to do nothing by itself. */
export function createPartnerHttp(deps: PartnerHttpDeps): PartnerHttp {
  const http = createGot(deps);
  const { account = '', clock, timeoutMs } = deps;
  return {
    async get({ endpoint, path, shape, room }, signal) {
      const attempt = openAttempt(signal, timeoutMs);
      const held = createHold((bytes) => attempt.untimed(room.take(account, bytes, attempt.signal)));
      try {
        const stream = http.stream(path, { signal: attempt.signal });
        const arriving = createArrival(shape, held.take);
        const chunks = decoded(stream as AsyncIterable<Buffer>, () => codingOf(stream.response));
        await drain(chunks, (chunk) => arriving.take(chunk, stream.response));
        const { statusCode = 0, headers = {} } = stream.response ?? {};
        return {
          status: statusCode,
          body: arriving.end(),
          unknownCoding: unknownCoding(headers['content-encoding']),
          retryAfterMs: parseRetryAfter(headers['retry-after'], clock.now()),
          isRateLimited: isRateLimit(statusCode, headers),
          release: held.release,
        };
      } catch (error) {
        held.release();
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
    decompress: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    agent: agents ?? createProxyAgents(null, connectMsOf(timeoutMs)),
    ...(lookup === undefined
      ? {}
      : { dnsLookup: lookupFunction((hostname) => lookup(hostname, `polls ${account}`)) }),
  });
}

type AnswerHead = Pick<IncomingMessage, 'headers'> & { readonly statusCode: number };

// The body of a failure is not read.
function codingOf(head: AnswerHead | undefined): string | undefined {
  return head !== undefined && isOk(head.statusCode) ? head.headers['content-encoding'] : undefined;
}

// Resolves to nothing: requests of got that were collected late keep later ones, and what their readers
// resolve to, from being collected young. That would be the bodies of all pages.
async function drain(
  stream: AsyncIterable<Buffer>,
  take: (chunk: Buffer) => Promise<boolean>,
): Promise<void> {
  for await (const chunk of stream) if (!(await take(chunk))) return;
}

/** The body of one answer while it arrives; `hold` takes room for it, in bytes. */
function createArrival(shape: Asked['shape'], hold: (bytes: number) => Promise<void>) {
  const turns = takeTurns();
  let body: BodyCollector | null = null;
  let unread = 0;
  let declared: number | null = null;
  return {
    /** Takes the next chunk. False when the rest of the answer is of no use. */
    async take(chunk: Buffer, head: AnswerHead | undefined): Promise<boolean> {
      if (head === undefined || !isOk(head.statusCode)) {
        unread += chunk.length;
        return unread <= unreadBytesMax;
      }
      declared ??= declaredLength(head.headers);
      body ??= createBodyCollector(shape, declared);
      if (body.length + chunk.length > roomlessBytesMax) await hold(declared ?? bodyBytesMax);
      body.push(chunk);
      if (turns.isOver()) await turns.next();
      return true;
    },
    end: (): AnswerBody => (body ?? createBodyCollector(shape, null)).end(),
  };
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

// With a coding, the length is that of the coded body.
function declaredLength({
  'content-length': length = '',
  'content-encoding': coding = 'identity',
}: AnswerHead['headers']): number | null {
  return /^\d{1,15}$/.test(length) && coding === 'identity' ? Number(length) : null;
}

/** Room that is taken at most once. */
function createHold(take: (bytes: number) => Promise<() => void>) {
  let release: (() => void) | null = null;
  return {
    async take(bytes: number): Promise<void> {
      release ??= await take(bytes);
    },
    release: () => release?.(),
  };
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
  if (error instanceof BrokenCoding)
    return new PartnerError('invalid_response', `GET ${endpoint} answered with ${error.message}`);
  if (error instanceof RequestError && error.cause instanceof ProxyError)
    return new PartnerError('proxy', `GET ${endpoint} failed: ${error.cause.message}`);
  const code = error instanceof RequestError ? error.code : 'ERR_UNKNOWN';
  const dialled =
    error instanceof RequestError && error.cause instanceof DialError ? error.cause.message : '';
  if (code === 'ETIMEDOUT')
    return new PartnerError('timeout', `GET ${endpoint} took too long${dialled && `: ${dialled}`}`);
  return new PartnerError('network', `GET ${endpoint} failed: ${code}${dialled && ` (${dialled})`}`);
}
