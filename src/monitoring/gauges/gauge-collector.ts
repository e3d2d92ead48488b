import { setTimeout as delay } from 'node:timers/promises';

/** Collects gauges for all who ask. */
export interface GaugeCollector {
  /**
   * Resolves when the gauges are fresh, or stand as they are because a collection takes too long; it goes on
   * meanwhile. Rejects when it has failed.
   */
  collect(): Promise<void>;
}

/** Times in milliseconds. */
export interface CollectorTimes {
  /** For which collected gauges count as fresh. */
  readonly freshMs: number;
  /** That those who ask wait for a collection. */
  readonly budgetMs: number;
}

const defaultTimes: CollectorTimes = { freshMs: 1_000, budgetMs: 3_000 };
// Minimum milliseconds of rest after a collection, for each one that it took.
const restShare = 4;

/**
 * Runs one collection at a time, however many ask, and rests after a long one: a fifth of the time at most
 * goes into collections. `onLate` is called for each that exceeds its budget.
 */
export function createGaugeCollector(
  read: () => Promise<void>,
  onLate: () => void,
  { freshMs, budgetMs }: CollectorTimes = defaultTimes,
): GaugeCollector {
  let running: Promise<void> | null = null;
  let restsUntil = -Infinity;

  async function run(): Promise<void> {
    const begunAt = performance.now();
    try {
      await read();
    } finally {
      const endedAt = performance.now();
      restsUntil = endedAt + Math.max(freshMs, restShare * (endedAt - begunAt));
      running = null;
    }
  }

  function start(): Promise<void> {
    const begun = run();
    // A failure may come after all callers have stopped waiting.
    begun.catch(() => undefined);
    return begun;
  }

  return {
    async collect() {
      if (running === null && performance.now() < restsUntil) return;
      running ??= start();
      const over = new AbortController();
      const late = delay(budgetMs, 'late' as const, { signal: over.signal, ref: false });
      late.catch(() => undefined);
      try {
        if ((await Promise.race([running, late])) === 'late') onLate();
      } finally {
        over.abort();
      }
    },
  };
}
