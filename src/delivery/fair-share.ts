/** The drains of all processes, as far as one process sees them. */
export interface DrainsOfAll {
  /** Number of drains under way in all processes. */
  readonly underWay: number;
  /** Number of processes that deliver, this one included. */
  readonly processes: number;
  /** Number of them before this one, in an order that is the same for all; null where it is not known. */
  readonly before: number | null;
}

/**
 * Hands drains over to processes that have fewer: one that joins while others have a backlog would find
 * nothing to do otherwise, because a drain with events left does not end by itself.
 */
export interface FairShare {
  /**
   * Whether one of this process's drains is to end for another process. True is an order: the caller has to
   * end that drain, and to call `left` when it has. False when the others cannot be asked.
   */
  mayLeave(): Promise<boolean>;
  left(subscription: string): void;
  /**
   * Whether a subscription was left to other processes within the last second. A worker takes the next job
   * together with the end of the former one, so its own would come back to it at once.
   */
  isForOthers(subscription: string): boolean;
}

export interface FairShareDeps {
  /** Number of this process's drains under way. */
  readonly running: () => number;
  readonly look: () => Promise<DrainsOfAll>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

const alone: DrainsOfAll = { underWay: 0, processes: 1, before: 0 };

// Milliseconds for which what was seen of the others counts.
const lookMs = 1_000;
// Share of the drains beyond the mean beyond which all are handed over at once; those below it one with each
// look, because drains begin and end while they are counted.
const tolerance = 0.2;

// Milliseconds for which others come first; then the process takes the subscription again.
const forOthersMs = 1_000;

/** The fair share of one process. */
export function createFairShare({ running, look, now }: FairShareDeps): FairShare {
  let leaving = 0;
  let lookedAt = -Infinity;
  let seen = alone;
  let hasLeftOne = false;
  // Until when, the earliest first.
  const forOthers = new Map<string, number>();
  return {
    async mayLeave() {
      if (now() - lookedAt >= lookMs) {
        lookedAt = now();
        hasLeftOne = false;
        seen = await look().catch(() => alone);
      }
      const kept = running() - leaving;
      if (kept <= (hasLeftOne ? fairShareOf(seen) : evenShareOf(seen))) return false;
      hasLeftOne = true;
      leaving += 1;
      return true;
    },
    left(subscription) {
      leaving -= 1;
      for (const [former, until] of forOthers) if (until <= now()) forOthers.delete(former);
      forOthers.delete(subscription);
      forOthers.set(subscription, now() + forOthersMs);
    },
    isForOthers: (subscription) => (forOthers.get(subscription) ?? -Infinity) > now(),
  };
}

/**
 * Number of drains above which a process hands over one at a time; pure. The shares of all processes add up
 * to the number of drains: where one has less than its share, another has more, and where all have theirs,
 * none is handed over. A process always keeps one drain.
 */
export function evenShareOf({ underWay, processes, before }: DrainsOfAll): number {
  if (processes < 2 || before === null) return fairShareOf({ underWay, processes });
  const extra = before < underWay % processes ? 1 : 0;
  return Math.max(1, Math.floor(underWay / processes) + extra);
}

/**
 * Maximum number of drains that a process keeps while others may have fewer; Infinity without others;
 * pure. It is never below the mean rounded up: two processes with three drains would hand one over for ever.
 */
export function fairShareOf({ underWay, processes }: Omit<DrainsOfAll, 'before'>): number {
  if (processes < 2) return Infinity;
  const mean = underWay / processes;
  return Math.max(Math.ceil(mean), Math.floor(mean * (1 + tolerance)));
}
