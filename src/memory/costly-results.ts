// Milliseconds that a result may take without being kept, and at most for which it is kept.
const cheapMs = 100;
const keptMsMax = 30_000;
// Milliseconds for which a result is kept, for each one that it took.
const keptShare = 10;
// Maximum number of results that are kept.
const resultsMax = 100;

interface Kept<T> {
  readonly result: Promise<T>;
  readonly begunAt: number;
  /** Null while it is under way. */
  until: number | null;
}

/**
 * Runs `work` for a key. A result that took more than a tenth of a second is kept for ten times as long, at
 * most half a minute, and shared while it is under way: so a tenth of the time goes into it, however often it
 * is asked for. Failures are not kept. `now` is monotonic, in milliseconds.
 */
export function createCostlyResults<T>(
  now: () => number,
): (key: string, work: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, Kept<T>>();

  function isShared({ begunAt, until }: Kept<T>): boolean {
    return until === null ? now() - begunAt > cheapMs : now() < until;
  }

  return async (key, work) => {
    for (const [each, { until }] of kept) if (until !== null && until <= now()) kept.delete(each);
    const known = kept.get(key);
    if (known !== undefined && isShared(known)) return known.result;
    const entry: Kept<T> = { result: work(), begunAt: now(), until: null };
    if (kept.size < resultsMax || known !== undefined) kept.set(key, entry);
    entry.result.then(
      () => {
        const tookMs = now() - entry.begunAt;
        entry.until = tookMs > cheapMs ? now() + Math.min(keptMsMax, keptShare * tookMs) : 0;
      },
      () => (entry.until = 0),
    );
    return entry.result;
  };
}
