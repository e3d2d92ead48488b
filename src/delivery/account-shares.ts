/**
 * The places of a process for drains, as its accounts share them: an endpoint that hangs keeps a place
 * until its callbacks time out, and an account may have thousands of them.
 */
export interface AccountShares {
  take(account: string, count: number): void;
  give(account: string, count: number): void;
  /** Whether no place is free. */
  areTaken(): boolean;
  /**
   * Milliseconds after which to ask again for `count` more places; 0 when the account may take them now. An
   * account that holds none always may.
   */
  waitMs(account: string, count: number): number;
}

export interface AccountSharesOptions {
  readonly places: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

// Number of places that an account may hold for each that it leaves free. One alone gets eight ninths of
// all, of two that want all each gets eight seventeenths.
const heldPerFree = 8;
// Minimum milliseconds until the next question, and between the next questions of one account, of which a
// thousand may wait.
const againMs = 250;
const apartMs = 5;

/** The shares of one process, in its memory only. */
export function createAccountShares({ places, now }: AccountSharesOptions): AccountShares {
  const held = new Map<string, number>();
  // By account, when its last question comes again; only of accounts that hold places.
  const asksAt = new Map<string, number>();
  let free = places;

  function change(account: string, count: number): void {
    free -= count;
    const after = (held.get(account) ?? 0) + count;
    if (after > 0) return void held.set(account, after);
    held.delete(account);
    asksAt.delete(account);
  }

  return {
    take: change,
    give: (account, count) => change(account, -count),
    areTaken: () => free <= 0,
    waitMs(account, count) {
      const own = held.get(account) ?? 0;
      if (own === 0 || own + count <= heldPerFree * (free - count)) return 0;
      const at = Math.max(now() + againMs, (asksAt.get(account) ?? 0) + apartMs);
      asksAt.set(account, at);
      return at - now();
    },
  };
}
