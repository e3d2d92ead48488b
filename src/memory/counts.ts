/** Numbers of things by a key. A key of which there are none takes no memory. */
export interface Counts {
  /** There is one more. */
  add(key: string): void;
  /** There is one less; one that was never added changes nothing. */
  remove(key: string): void;
  of(key: string): number;
}

/** None of any key. */
export function createCounts(): Counts {
  const counts = new Map<string, number>();
  const of = (key: string) => counts.get(key) ?? 0;
  return {
    of,
    add: (key) => void counts.set(key, of(key) + 1),
    remove(key) {
      if (of(key) > 1) counts.set(key, of(key) - 1);
      else counts.delete(key);
    },
  };
}
