import { createCounts } from '../memory/counts.ts';

/**
 * The places of a process for callbacks in flight, as its accounts share them: an endpoint that hangs keeps
 * its places until its callbacks time out, and an account may have thousands of such endpoints.
 */
export type AccountShares = ReturnType<typeof createAccountShares>;

// Number of places that an account may hold for each that it leaves free. One alone gets eight ninths of all,
// of two that want all each gets eight seventeenths.
const heldPerFree = 8;

/** The shares of one process, in its memory only. */
export function createAccountShares(places: number) {
  const held = createCounts();
  let free = places;
  return {
    /** Whether the account may take another place. One that holds none always may. */
    mayTake(account: string): boolean {
      const own = held.of(account);
      return own === 0 || own + 1 <= heldPerFree * (free - 1);
    },
    take(account: string): void {
      free -= 1;
      held.add(account);
    },
    give(account: string): void {
      free += 1;
      held.remove(account);
    },
  };
}
