import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { ApiDeps, Api } from '../deps.ts';
import { Problem } from '../shared/problem.ts';

/**
 * The default limits on requests and connections, listed in docs/configuration.md; each process counts by
 * itself, and tests lower them. A client with a valid token stays far below. A rate is at most `max` requests
 * in each window of `windowMs` milliseconds.
 */
export const defaultLimits = {
  /** Requests to guarded routes without a valid token, per address. */
  failures: { max: 300, windowMs: 15_000 },
  /** Requests to routes that need no token, those for health left out, per address. */
  open: { max: 2_000, windowMs: 10_000 },
  /** Requests with one account token. */
  token: { max: 2_000, windowMs: 10_000 },
  /** Requests with all tokens of one account. */
  account: { max: 3_000, windowMs: 10_000 },
  /** Polls that the tokens of one account ask for. */
  polls: { max: 4, windowMs: 60_000 },
  /** Notes on filings by the tokens of one account, each with its event. */
  notes: { max: 5_000, windowMs: 3_600_000 },
  /**
   * Dear requests that read much of Redis, or have many certificates: maximum number at once of one account
   * and of all together, and of one account that wait for a place, each for `waitMs` milliseconds.
   */
  scans: { perAccount: 2, inAll: 8, waiting: 16, waitMs: 10_000 },
  /** Dear requests that send much of Redis at the pace of their client. */
  exports: { perAccount: 2, inAll: 64, waiting: 16, waitMs: 10_000 },
  /** Dear requests that wait for a receiver. */
  calls: { perAccount: 10, inAll: 100, waiting: 0, waitMs: 0 },
  /**
   * Maximum number of event streams at once: of one account token, and of all tokens of an account. All
   * streams together have at most half of the connections, those of one account three quarters of that.
   */
  streams: { perToken: 100, perAccount: 200 },
  /** Maximum number of open connections, including streams and probes. One more replaces another. */
  connections: 20_000,
};

/** Limits on requests and connections. */
export type ApiLimits = typeof defaultLimits;

/** A limit by a key, counted in this process only. Its refusals say `detail`. */
export function createLimit({ max, windowMs }: ApiLimits['open'], detail: string) {
  const limiter = new RateLimiterMemory({ points: max, duration: windowMs / 1000 });
  // The time left is the clock's, which may be set back; the window ends by a timer.
  const refuseFor = (found: RateLimiterRes) => refuse(detail, Math.min(found.msBeforeNext, windowMs));
  return {
    /** Counts a request; throws the problem `too_many_requests` (RFC 6585 §4) if it is one too many. */
    async count(key: string): Promise<void> {
      await limiter.consume(key).catch(refuseFor);
    },
    /** Throws the same while the key has none left, without counting. */
    async check(key: string): Promise<void> {
      const found = await limiter.get(key);
      if (found !== null && found.consumedPoints >= max) refuseFor(found);
    },
    /** Counts further requests, for one that is worth several. */
    async charge(key: string, requests: number): Promise<void> {
      await limiter.penalty(key, requests);
    },
  };
}

/** Throws the problem `too_many_requests`; the client may try again after `waitMs` milliseconds. */
export function refuse(detail: string, waitMs: number): never {
  throw new Problem('too_many_requests', `${detail} Wait as long as Retry-After says.`, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
}

// Bytes of an answer for which a request without a token counts once more.
const openBytes = 256 * 1024;

/**
 * Limits the requests of an address to routes that need no token, including unknown paths, those for large
 * answers more; health probes have no limit. The answer that reaches the limit is sent.
 */
export function limitOpenRoutes(app: Api, { limits }: Pick<ApiDeps, 'limits'>): void {
  const limit = createLimit(
    { ...defaultLimits, ...limits }.open,
    'Too many requests came from your address.',
  );
  app.addHook('onRequest', async (request) => {
    if (isOpen(request)) await limit.count(addressKey(request.ip));
  });
  app.addHook('onSend', async (request, _reply, payload) => {
    if (Buffer.isBuffer(payload) && isOpen(request))
      await limit.charge(addressKey(request.ip), Math.floor(payload.length / openBytes));
    return payload;
  });
}

function isOpen({ routeOptions: { url = '' } }: FastifyRequest): boolean {
  return !url.startsWith('/v1/') && !url.startsWith('/health/');
}

/**
 * The key under which requests from an address are counted; pure. An IPv6 network of 64 bits is one key (RFC
 * 6177 §2: a single site has at least that much). An IPv4 address has the same key in both notations, and
 * without the port that some proxies append. Text that is no address stands for itself.
 */
export function addressKey(text: string): string {
  const [, ipv4, ipv6] = /^(?:(\d+(?:\.\d+){3})|\[([^\]]+)\])(?::\d+)?$/.exec(text) ?? [];
  const address = ipv4 ?? ipv6 ?? text;
  if (!ipaddr.isValid(address)) return text;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}/64`;
}
