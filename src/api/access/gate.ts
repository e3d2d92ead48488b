/** Limits of a gate. */
export interface GateLimits {
  /** Maximum number inside at once, of one account. */
  readonly perAccount: number;
  /** Maximum number inside at once, of all accounts together. */
  readonly inAll: number;
  /** Maximum number that wait in front, of one account. */
  readonly waiting: number;
  /** Milliseconds that one waits in front. */
  readonly waitMs: number;
}

/** Lets a few in at once, each account its share; in this process only. */
export interface Gate {
  /**
   * A place inside, to be disposed of when the work has ended, once or more often. Null when too many of the
   * account wait, after `waitMs`, and when `signal` aborts.
   */
  enter(account: string, signal: AbortSignal): Promise<Disposable | null>;
}

interface Waiter {
  readonly account: string;
  readonly admit: () => void;
}

/** A gate whose waiters enter in the order of their arrival, past those whose account has its share. */
export function createGate({ perAccount, inAll, waiting, waitMs }: GateLimits): Gate {
  const inside = new Map<string, number>();
  const queue = new Set<Waiter>();
  let total = 0;

  const hasRoom = (account: string) => total < inAll && (inside.get(account) ?? 0) < perAccount;

  function take(account: string): Disposable {
    total += 1;
    inside.set(account, (inside.get(account) ?? 0) + 1);
    let left = false;
    return {
      [Symbol.dispose]() {
        if (!left) leave(account);
        left = true;
      },
    };
  }

  function leave(account: string): void {
    total -= 1;
    const others = (inside.get(account) ?? 1) - 1;
    if (others > 0) inside.set(account, others);
    else inside.delete(account);
    for (const waiter of queue) if (hasRoom(waiter.account)) waiter.admit();
  }

  function wait(account: string, signal: AbortSignal): Promise<Disposable | null> {
    return new Promise((resolve) => {
      const end = (place: Disposable | null) => {
        queue.delete(waiter);
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        resolve(place);
      };
      const giveUp = () => end(null);
      const waiter: Waiter = { account, admit: () => end(take(account)) };
      const timer = setTimeout(giveUp, waitMs);
      signal.addEventListener('abort', giveUp);
      queue.add(waiter);
    });
  }

  return {
    async enter(account, signal) {
      if (signal.aborted) return null;
      if (hasRoom(account)) return take(account);
      const ahead = [...queue].filter((waiter) => waiter.account === account).length;
      return ahead < waiting ? wait(account, signal) : null;
    },
  };
}
