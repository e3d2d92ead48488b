import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { allEnded } from '../waiting/all-ended.ts';
import { jitter } from '../waiting/jitter.ts';

/** Subscriptions whose callbacks wait because the forward proxy is down. Kept in memory. */
export type HeldSubscriptions = ReturnType<typeof createHeldSubscriptions>;

export interface HeldSubscriptionsDeps {
  /** Whether callbacks to this URL have to wait now. */
  readonly isHeld: (url: string) => boolean;
  readonly wake: (account: string) => Promise<void>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly random: () => number;
}

// Milliseconds after which a held subscription looks again by itself. That costs a claim, and only another
// process needs it: this one wakes what it holds.
const lookAgainMs = 60_000;
const lookSpread = { less: 0.5 };

/** Holds no subscription yet. */
export function createHeldSubscriptions({ isHeld, wake, now, random }: HeldSubscriptionsDeps) {
  let held = new Set<string>();
  return {
    /**
     * Null when callbacks to this URL may be sent; else when the subscription is to be drained again, in
     * milliseconds on Redis's clock. It is woken before that when the proxy is back.
     */
    heldUntil(account: string, url: string): number | null {
      if (!isHeld(url)) return null;
      held.add(account);
      return now() + jitter(lookAgainMs, lookSpread, random);
    },
    /**
     * Wakes all that are held, once the proxy is back. Rejects with the first failure when it has tried all
     * accounts; the subscriptions of those that failed look again by themselves.
     */
    async release(): Promise<void> {
      const released = held;
      held = new Set();
      await allEnded([...released].map(wake));
    },
  };
}

/** The last word of a process about the forward proxy, for the processes that show subscriptions. */
export type OutageStore = ReturnType<typeof createOutageStore>;

// Milliseconds for which a reason holds. A process that is down on its proxy repeats it with each probe.
const heldMs = 120_000;
const keptMs = 1_000;

/** A store of one sentence. */
export function createOutageStore(redis: RedisClient, { proxyOutage }: Pick<Keys, 'proxyOutage'>) {
  let last: Promise<string | null> = Promise.resolve(null);
  let readAt = -Infinity;
  return {
    /** Stores why callbacks wait, or null if they no longer do. A reason holds for two minutes. */
    async write(detail: string | null): Promise<void> {
      if (detail === null) await redis.del(proxyOutage);
      else await redis.set(proxyOutage, detail, 'PX', heldMs);
    },
    /** Why callbacks wait, or null if they do not. At most a second old. */
    read(): Promise<string | null> {
      if (performance.now() - readAt < keptMs) return last;
      readAt = performance.now();
      last = redis.get(proxyOutage);
      // The next read asks again.
      last.catch(() => (readAt = -Infinity));
      return last;
    },
  };
}
