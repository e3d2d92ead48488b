/** A map that remembers the entries used last. */
export type BoundedMap<K, V> = ReturnType<typeof createBoundedMap<K, V>>;

/**
 * A map of at most `max` entries, or of those that together weigh at most `max`. A Map keeps its keys in the
 * order in which they were set, so each use sets its entry again.
 */
export function createBoundedMap<K, V>(max: number, weigh: (value: V) => number = () => 1) {
  const entries = new Map<K, { readonly value: V }>();
  let weight = 0;

  function take(key: K): { readonly value: V } | undefined {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    weight -= weigh(entry.value);
    return entry;
  }

  function put(key: K, entry: { readonly value: V }): void {
    entries.set(key, entry);
    weight += weigh(entry.value);
  }

  return {
    /** Counts as a use. Undefined if the entry is missing or was removed. */
    get(key: K): V | undefined {
      const entry = take(key);
      if (entry !== undefined) put(key, entry);
      return entry?.value;
    },
    /** Counts as a use. If there are then too many entries, the least recently used ones are evicted. */
    set(key: K, value: V): void {
      take(key);
      put(key, { value });
      for (const oldest of entries.keys()) {
        if (weight <= max) break;
        take(oldest);
      }
    },
    delete: (key: K) => void take(key),
  };
}
