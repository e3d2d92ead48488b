/** A map that remembers the entries used last. */
export interface BoundedMap<K, V> {
  /** Counts as a use; undefined where the entry is not there, or not any more. */
  get(key: K): V | undefined;
  /** Counts as a use. Where there are too many entries then, those whose use lies back longest go. */
  set(key: K, value: V): void;
  delete(key: K): void;
}

/**
 * A map of at most `max` entries, or of those that together weigh at most `max`. A Map keeps its keys in the
 * order in which they were set, so each use sets its entry again.
 */
export function createBoundedMap<K, V>(max: number, weigh: (value: V) => number = () => 1): BoundedMap<K, V> {
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
    get(key) {
      const entry = take(key);
      if (entry !== undefined) put(key, entry);
      return entry?.value;
    },
    set(key, value) {
      take(key);
      put(key, { value });
      for (const oldest of entries.keys()) {
        if (weight <= max) break;
        take(oldest);
      }
    },
    delete: (key) => void take(key),
  };
}
