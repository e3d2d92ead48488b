/** A map that remembers the entries used last. */
export interface BoundedMap<K, V> {
  /** Counts as a use; undefined where the entry is not there, or not any more. */
  get(key: K): V | undefined;
  /** Counts as a use. Where there are too many entries then, the one whose use lies back longest goes. */
  set(key: K, value: V): void;
  delete(key: K): void;
}

/** A map of at most `max` entries. Each operation takes constant time. */
export function createBoundedMap<K, V>(max: number): BoundedMap<K, V> {
  // In the order of their last use: a Map keeps the order of insertion.
  const entries = new Map<K, V>();
  function set(key: K, value: V): void {
    entries.delete(key);
    entries.set(key, value);
    if (entries.size <= max) return;
    const [oldest] = entries.keys();
    entries.delete(oldest as K);
  }
  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    delete: (key) => void entries.delete(key),
  };
}
