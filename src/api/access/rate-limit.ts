import ipaddr from 'ipaddr.js';
import { createBoundedMap } from '../../memory/bounded-map.ts';

/** A rate limit: `burst` times at once, and `perSecond` times a second in the long run. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * Counts by key, in this process only. It keeps the latest 10 000 keys; an older one starts afresh.
 */
export interface RateLimiter {
  /** Counts one more if the rate allows it and returns 0; else returns the milliseconds until it does. */
  count(key: string): number;
  /** The result that `count` would have, without counting. */
  waitMs(key: string): number;
}

const keysMax = 10_000;

/**
 * A limiter by the generic cell rate algorithm (ITU-T I.371): one number per key. `now` is in milliseconds
 * and never goes back.
 */
export function createRateLimiter({ burst, perSecond }: Rate, now: () => number): RateLimiter {
  const stepMs = 1000 / perSecond;
  const roomMs = (burst - 1) * stepMs;
  /** Time in milliseconds at which nothing is counted under a key any more. */
  const fullAt = createBoundedMap<string, number>(keysMax);

  const waitMs = (key: string) => Math.max(0, (fullAt.get(key) ?? 0) - now() - roomMs);
  return {
    waitMs,
    count(key) {
      const wait = waitMs(key);
      if (wait > 0) return wait;
      const from = Math.max(fullAt.get(key) ?? 0, now());
      fullAt.set(key, from + stepMs);
      return 0;
    },
  };
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
  return parsed instanceof ipaddr.IPv6 ? `${networkOf(parsed)}/64` : parsed.toString();
}

function networkOf({ parts }: ipaddr.IPv6): string {
  return parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}
