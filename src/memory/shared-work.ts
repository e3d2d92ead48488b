/**
 * Runs `work` once for all that ask for the same key while it is under way; they get the same result or
 * error.
 */
export function createSharedWork<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key) => {
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const begun = work(key).finally(() => underWay.delete(key));
    underWay.set(key, begun);
    return begun;
  };
}

/**
 * Runs `run` once for all that ask before it is done and within `forMs` of its end. A rejection is kept as
 * long.
 */
export function onceForAll<T>(run: () => Promise<T>, forMs: number): () => Promise<T> {
  let last: Promise<T> | null = null;
  let endedAt = -Infinity;
  return () => {
    if (last !== null && performance.now() - endedAt < forMs) return last;
    endedAt = Infinity;
    last = run().finally(() => {
      endedAt = performance.now();
    });
    return last;
  };
}
