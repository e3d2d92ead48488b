/** Numbers of things by a key, none at first. A key of which there are none takes no memory. */
export function createCounts() {
  const counts = new Map<string, number>();
  const of = (key: string) => counts.get(key) ?? 0;
  return {
    of,
    /** There is one more. */
    add: (key: string) => void counts.set(key, of(key) + 1),
    /** There is one less; one that was never added changes nothing. */
    remove(key: string): void {
      if (of(key) > 1) counts.set(key, of(key) - 1);
      else counts.delete(key);
    },
  };
}
