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
