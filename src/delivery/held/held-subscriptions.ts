import { jitter } from '../../waiting/jitter.ts';

/** Subscriptions whose callbacks wait because the forward proxy is down. Kept in memory. */
export interface HeldSubscriptions {
  /**
   * Null when callbacks to this URL may be sent; else when the subscription is to be drained again, in
   * milliseconds on Redis's clock. It is woken before that when the proxy is back.
   */
  heldUntil(account: string, subscription: string, url: string): number | null;
  /**
   * Wakes all that are held, once the proxy is back. Rejects with the first failure when it has tried all
   * accounts; the subscriptions of those that failed look again by themselves.
   */
  release(): Promise<void>;
}

export interface HeldSubscriptionsDeps {
  /** Whether callbacks to this URL have to wait now. */
  readonly isHeld: (url: string) => boolean;
  readonly wake: (account: string, subscriptions: readonly string[]) => Promise<void>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly random: () => number;
}

// Milliseconds after which a held subscription looks again by itself. That costs a claim, and only another
// process needs it: this one wakes what it holds.
const lookAgainMs = 60_000;
const lookSpread = { less: 0.5 };
// Maximum number of subscriptions that are woken at once when the proxy is back; others look by themselves.
const heldMax = 50_000;

/** Holds no subscription yet. */
export function createHeldSubscriptions({
  isHeld,
  wake,
  now,
  random,
}: HeldSubscriptionsDeps): HeldSubscriptions {
  let held = new Map<string, Set<string>>();
  let count = 0;

  function remember(account: string, subscription: string): void {
    const known = held.get(account) ?? new Set<string>();
    held.set(account, known);
    if (known.has(subscription) || count >= heldMax) return;
    known.add(subscription);
    count += 1;
  }

  return {
    heldUntil(account, subscription, url) {
      if (!isHeld(url)) return null;
      remember(account, subscription);
      return now() + jitter(lookAgainMs, lookSpread, random);
    },
    async release() {
      const released = held;
      held = new Map();
      count = 0;
      const failures: unknown[] = [];
      for (const [account, subscriptions] of released)
        await wake(account, [...subscriptions]).catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
}
