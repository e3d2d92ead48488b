/** Work that takes turns among its owners. */
export interface Turns {
  /**
   * Begins the work now, or once it is the owner's turn; false, and never, where too many of the owner's wait
   * already.
   */
  enter(owner: string, begin: () => Promise<unknown>): boolean;
}

/** Maximum numbers: of works at once, of those of one owner, and of those of one owner that wait. */
export interface TurnLimits {
  readonly overall: number;
  readonly perOwner: number;
  readonly waiting: number;
}

interface Owner {
  underWay: number;
  readonly waiting: (() => Promise<unknown>)[];
}

/**
 * Turns without any work. An owner with much work waits for places of its own. Where the places of all are
 * taken, the free ones go around the owners that wait.
 */
export function createTurns({ overall, perOwner, waiting: waitingMax }: TurnLimits): Turns {
  const owners = new Map<string, Owner>();
  // Owners that wait, the one whose turn lies back longest first: a Map keeps the order of insertion.
  const queue = new Map<string, Owner>();
  let underWay = 0;

  async function start(name: string, owner: Owner, begin: () => Promise<unknown>): Promise<void> {
    underWay += 1;
    owner.underWay += 1;
    try {
      await begin();
    } catch {
      // The one who waits for the work gets its failure.
    } finally {
      underWay -= 1;
      owner.underWay -= 1;
      if (owner.underWay === 0 && owner.waiting.length === 0) owners.delete(name);
      startNext();
    }
  }

  function startNext(): void {
    if (underWay >= overall) return;
    for (const [name, owner] of queue) {
      if (owner.underWay >= perOwner) continue;
      const begin = owner.waiting.shift();
      queue.delete(name);
      if (owner.waiting.length > 0) queue.set(name, owner);
      if (begin !== undefined) void start(name, owner, begin);
      return;
    }
  }

  return {
    enter(name, begin) {
      const owner = owners.get(name) ?? { underWay: 0, waiting: [] };
      owners.set(name, owner);
      if (underWay < overall && owner.underWay < perOwner && owner.waiting.length === 0) {
        void start(name, owner, begin);
        return true;
      }
      if (owner.waiting.length >= waitingMax) return false;
      owner.waiting.push(begin);
      queue.set(name, queue.get(name) ?? owner);
      return true;
    },
  };
}
