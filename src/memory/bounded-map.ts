/** A map that remembers the entries used last. */
export interface BoundedMap<K, V> {
  /** Counts as a use; undefined where the entry is not there, or not any more. */
  get(key: K): V | undefined;
  /** Counts as a use. Where there are too many entries then, those whose use lies back longest go. */
  set(key: K, value: V): void;
  delete(key: K): void;
}

interface Entry<K, V> {
  readonly key: K;
  value: V;
  /** The entries used just before and after it. */
  older: Entry<K, V> | null;
  newer: Entry<K, V> | null;
}

/**
 * A map of at most `max` entries, or of those that together weigh at most `max`. Each operation takes
 * constant time. The entries are linked in the order of
 * their use: a Map whose entries are removed and set again at each use is copied again and again.
 */
export function createBoundedMap<K, V>(max: number, weigh: (value: V) => number = () => 1): BoundedMap<K, V> {
  let weight = 0;
  const entries = new Map<K, Entry<K, V>>();
  let oldest: Entry<K, V> | null = null;
  let newest: Entry<K, V> | null = null;

  function unlink(entry: Entry<K, V>): void {
    const { older, newer } = entry;
    if (older === null) oldest = newer;
    else older.newer = newer;
    if (newer === null) newest = older;
    else newer.older = older;
  }

  function append(entry: Entry<K, V>): void {
    entry.older = newest;
    entry.newer = null;
    if (newest === null) oldest = entry;
    else newest.newer = entry;
    newest = entry;
  }

  function use(entry: Entry<K, V>): void {
    if (entry === newest) return;
    unlink(entry);
    append(entry);
  }

  function remove(entry: Entry<K, V>): void {
    unlink(entry);
    entries.delete(entry.key);
    weight -= weigh(entry.value);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      use(entry);
      return entry.value;
    },
    set(key, value) {
      const known = entries.get(key);
      if (known !== undefined) {
        weight -= weigh(known.value);
        known.value = value;
        use(known);
      } else {
        const entry: Entry<K, V> = { key, value, older: null, newer: null };
        append(entry);
        entries.set(key, entry);
      }
      weight += weigh(value);
      while (weight > max && oldest !== null) remove(oldest);
    },
    delete(key) {
      const entry = entries.get(key);
      if (entry !== undefined) remove(entry);
    },
  };
}
