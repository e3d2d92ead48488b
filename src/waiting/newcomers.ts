/**
 * How much a process begins at once: work costs it the most when it has just begun. Work that takes long
 * makes way for other work after a moment, unless the process itself is slow.
 */
export interface Newcomers {
  /**
   * Resolves when `count` more may begin; they count as begun then. Those of one owner begin in the order of
   * the calls, and owners by turns. The function that it resolves with takes the number of them that have
   * ended, or did not begin after all.
   */
  begin(count: number, owner?: string): Promise<Ended>;
}

/** Counts a number of them as ended; those that are not new any more make no room. */
export type Ended = (count: number) => void;

export interface NewcomersOptions {
  /** Number under way at which no more begin. */
  readonly max: number;
}

// Number of looks after which work under way no longer counts: it waits for another machine, which is no
// reason to let others wait.
const newLooks = 5;
// Milliseconds between two looks. A busy process looks less often, so what waits for the process itself stays
// new for longer.
const lookMs = 10;

interface Waiter {
  readonly count: number;
  readonly resolve: (ended: Ended) => void;
}

interface Begun {
  /** Number of the look before it. */
  readonly at: number;
  left: number;
}

/** The newcomers of one kind in one process. */
export function createNewcomers({ max }: NewcomersOptions): Newcomers {
  const begun: Begun[] = [];
  // By owner, the owner whose turn is next first; none is empty.
  const waiting = new Map<string, Waiter[]>();
  let underWay = 0;
  let looks = 0;
  let timer: NodeJS.Timeout | null = null;

  function look(): void {
    looks += 1;
    for (let [oldest] = begun; oldest !== undefined && isOld(oldest); [oldest] = begun) {
      begun.shift();
      underWay -= oldest.left;
      oldest.left = 0;
    }
    letIn();
    if (begun.length > 0) return;
    clearInterval(timer ?? undefined);
    timer = null;
  }

  function isOld({ at, left }: Begun): boolean {
    return left === 0 || looks - at >= newLooks;
  }

  function letIn(): void {
    // An owner with more that waits is put behind the others, where the loop comes to it again.
    for (const [owner, queue] of waiting) {
      if (underWay >= max) return;
      const next = queue.shift();
      waiting.delete(owner);
      if (queue.length > 0) waiting.set(owner, queue);
      if (next === undefined) continue;
      next.resolve(start(next.count));
    }
  }

  function start(count: number): Ended {
    const one: Begun = { at: looks, left: count };
    begun.push(one);
    underWay += count;
    timer ??= setInterval(look, lookMs).unref();
    return (ended) => {
      const some = Math.min(ended, one.left);
      one.left -= some;
      underWay -= some;
      letIn();
    };
  }

  return {
    begin(count, owner = '') {
      if (waiting.size === 0 && underWay < max) return Promise.resolve(start(count));
      return new Promise((resolve) => {
        const queue = waiting.get(owner);
        if (queue === undefined) waiting.set(owner, [{ count, resolve }]);
        else queue.push({ count, resolve });
      });
    },
  };
}
