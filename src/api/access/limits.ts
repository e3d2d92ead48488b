import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { ApiDeps, ApiLimits, Api } from '../deps.ts';
import { Problem } from '../shared/problem.ts';

/** A rate limit: at most `max` requests in each window of `windowMs` milliseconds. */
export interface Rate {
  readonly max: number;
  readonly windowMs: number;
}

/** The default limits, listed in docs/configuration.md. A client with a valid token stays far below. */
export const defaultLimits: ApiLimits = {
  failures: { max: 300, windowMs: 15_000 },
  open: { max: 2_000, windowMs: 10_000 },
  token: { max: 2_000, windowMs: 10_000 },
  account: { max: 3_000, windowMs: 10_000 },
  polls: { max: 4, windowMs: 60_000 },
  notes: { max: 5_000, windowMs: 3_600_000 },
  scans: { perAccount: 2, inAll: 8, waiting: 16, waitMs: 10_000 },
  exports: { perAccount: 2, inAll: 64, waiting: 16, waitMs: 10_000 },
  calls: { perAccount: 10, inAll: 100, waiting: 0, waitMs: 0 },
  streams: { perToken: 100, perAccount: 200 },
  connections: 20_000,
};

/** A limit by a key, counted in this process only. */
export interface Limit {
  /** Counts a request; throws the problem `too_many_requests` (RFC 6585 §4) if it is one too many. */
  count(key: string): Promise<void>;
  /** Throws the same while the key has none left, without counting. */
  check(key: string): Promise<void>;
  /** Counts further requests, for one that is worth several. */
  charge(key: string, requests: number): Promise<void>;
}

/** A limit whose refusals say `detail`. */
export function createLimit({ max, windowMs }: Rate, detail: string): Limit {
  const limiter = new RateLimiterMemory({ points: max, duration: windowMs / 1000 });
  // The time left is the clock's, which may be set back; the window ends by a timer.
  const refuseFor = (found: RateLimiterRes) => refuse(detail, Math.min(found.msBeforeNext, windowMs));
  return {
    async count(key) {
      await limiter.consume(key).catch(refuseFor);
    },
    async check(key) {
      const found = await limiter.get(key);
      if (found !== null && found.consumedPoints >= max) refuseFor(found);
    },
    async charge(key, requests) {
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
