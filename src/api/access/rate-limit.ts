import ipaddr from 'ipaddr.js';
import { createBoundedMap } from '../../memory/bounded-map.ts';

/** How often something may happen: `burst` times at once, and `perSecond` times a second in the long run. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * Counts by key, in this process only. It remembers the latest so many keys: a forgotten one starts afresh.
 */
export interface RateLimiter {
  /** Counts one more, if there is room. The milliseconds until there is, 0 when it was counted. */
  take(key: string): number;
  /** What `take` would answer, without counting. */
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
  /** When everything that was counted under a key is forgotten. */
  const fullAt = createBoundedMap<string, number>(keysMax);

  const waitMs = (key: string) => Math.max(0, (fullAt.get(key) ?? 0) - now() - roomMs);
  return {
    waitMs,
    take(key) {
      const wait = waitMs(key);
      if (wait > 0) return wait;
      const from = Math.max(fullAt.get(key) ?? 0, now());
      fullAt.set(key, from + stepMs);
      return 0;
    },
  };
}

/**
 * What requests from an address are counted under; pure. An IPv6 network of 64 bits is one (RFC 6177 §2: a
 * single site has at least that much), an IPv4 address is the same in both notations and without the port
 * that some proxies write behind it. Text that is no address stands for itself.
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
