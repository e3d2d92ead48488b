/**
 * The places of a process for callbacks in flight, as its accounts share them: an endpoint that hangs keeps
 * its places until its callbacks time out, and an account may have thousands of such endpoints.
 */
export interface AccountShares {
  /** Whether the account may take another place. One that holds none always may. */
  mayTake(account: string): boolean;
  take(account: string): void;
  give(account: string): void;
}

// Number of places that an account may hold for each that it leaves free. One alone gets eight ninths of all,
// of two that want all each gets eight seventeenths.
const heldPerFree = 8;

/** The shares of one process, in its memory only. */
export function createAccountShares(places: number): AccountShares {
  const held = new Map<string, number>();
  let free = places;

  function change(account: string, count: 1 | -1): void {
    free -= count;
    const after = (held.get(account) ?? 0) + count;
    if (after > 0) held.set(account, after);
    else held.delete(account);
  }

  return {
    mayTake(account) {
      const own = held.get(account) ?? 0;
      return own === 0 || own + 1 <= heldPerFree * (free - 1);
    },
    take: (account) => change(account, 1),
    give: (account) => change(account, -1),
  };
}
