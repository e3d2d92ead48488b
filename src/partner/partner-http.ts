import got, { RequestError, type Got } from 'got';
import type { HostLookup } from '../names/host-lookup.ts';
import { lookupFunction } from '../names/lookup-function.ts';
import type { Clock } from '../redis/clock.ts';
import { parseRetryAfter } from '../waiting/retry-after.ts';
import { PartnerError } from './partner-error.ts';

/** One HTTP answer of the partner service, whatever its status. */
export interface PartnerAnswer {
  readonly status: number;
  /** Decodes the body as UTF-8; other bytes become U+FFFD. */
  readonly text: () => string;
  /** Length of the body. */
  readonly bytes: number;
  /** From the moment of the answer, milliseconds; null without a `Retry-After` that can be read. */
  readonly retryAfterMs: number | null;
}

/** GET requests with the account's key to the account's base address and to nothing else. */
export interface PartnerHttp {
  /**
   * One request, without redirects, decompression or repeats. Rejects with PartnerError when there is no
   * whole answer within the deadline and the size limit.
   */
  get(endpoint: string, path: string, signal: AbortSignal): Promise<PartnerAnswer>;
}

export interface PartnerHttpDeps {
  readonly baseUrl: string;
  readonly partnerKey: string;
  /** Deadline of a whole request, body included. */
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'now'>;
  /** Finds the addresses of the service's host; without one, the system's own lookup does. */
  readonly lookup?: HostLookup;
  /** The account whose lookups these are. */
  readonly account?: string;
}

const bodyBytesMax = 16 * 1024 * 1024;

/** Requests over got, which is configured to do nothing by itself. */
export function createPartnerHttp(deps: PartnerHttpDeps): PartnerHttp {
  const http = createGot(deps);
  return {
    async get(endpoint, path, signal) {
      const attempt = openAttempt(signal);
      try {
        const request = http(path, { signal: attempt.signal });
        void request.on('downloadProgress', attempt.onProgress);
        const { statusCode, body, headers } = await request;
        return {
          status: statusCode,
          text: () => new TextDecoder().decode(body),
          bytes: body.length,
          retryAfterMs: parseRetryAfter(headers['retry-after'], deps.clock.now()),
        };
      } catch (error) {
        throw attempt.tooLarge()
          ? new PartnerError('invalid_response', `GET ${endpoint} answered more than ${bodyBytesMax} bytes`)
          : translate(endpoint, error, signal);
      } finally {
        attempt.close();
      }
    },
  };
}

function createGot({
  baseUrl,
  partnerKey,
  timeoutMs,
  lookup,
  account = '',
}: PartnerHttpDeps): Got<{ responseType: 'buffer' }> {
  return got.extend({
    prefixUrl: baseUrl,
    headers: { PartnerKey: partnerKey, accept: 'application/json', 'user-agent': 'filing-webhooks' },
    responseType: 'buffer',
    followRedirect: false,
    decompress: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    timeout: { request: timeoutMs },
    ...(lookup === undefined
      ? {}
      : { dnsLookup: lookupFunction((hostname) => lookup(hostname, `polls ${account}`)) }),
  });
}

// The poll's signal lives long and is shared, so each request takes its listener away again.
function openAttempt(signal: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let tooLarge = false;
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    onProgress({ transferred }: { transferred: number }) {
      if (transferred <= bodyBytesMax) return;
      tooLarge = true;
      abort();
    },
    tooLarge: () => tooLarge,
    close: () => signal.removeEventListener('abort', abort),
  };
}

function translate(endpoint: string, error: unknown, signal: AbortSignal): PartnerError {
  if (signal.aborted) return new PartnerError('aborted', `GET ${endpoint} was stopped`);
  const code = error instanceof RequestError ? error.code : 'ERR_UNKNOWN';
  if (code === 'ETIMEDOUT') return new PartnerError('timeout', `GET ${endpoint} took too long`);
  return new PartnerError('network', `GET ${endpoint} failed: ${code}`);
}
