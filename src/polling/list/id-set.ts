/** Whether an id was new to the set, to the part of it only, or to neither. */
export type Membership = 'new' | 'elsewhere' | 'again';

/**
 * A set of ids in parts. It keeps 53-bit hashes of them, a quarter of what the ids take, so that a sweep of a
 * million filings fits. Two ids may be taken for one, at odds of one in 10^10 per million, which costs a
 * filing one look in a sweep.
 */
export type IdSet = ReturnType<typeof createIdSet>;

// Number of tables over which ids are spread: none is so large that its growth holds up the process.
const tablesCount = 64;

/** An empty set. */
export function createIdSet() {
  const tables: (HashTable | undefined)[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    /**
     * Adds an id to a part, which is a 32-bit integer. An id that parts name by turns counts as new to the
     * part.
     */
    add(id: string, part: number): Membership {
      const hash = hashOf(id);
      const table = (tables[hash % tablesCount] ??= createHashTable());
      const former = table.set(hash, part);
      if (former === null) size += 1;
      return former === null ? 'new' : former === part ? 'again' : 'elsewhere';
    },
    has(id: string): boolean {
      const hash = hashOf(id);
      return tables[hash % tablesCount]?.has(hash) === true;
    },
  };
}

type HashTable = ReturnType<typeof createHashTable>;

// A map of hashes to parts in two typed arrays, half the size of a Map. A place holds its hash plus
// one, 0 if it is free.
function createHashTable() {
  let hashes = new Float64Array(4);
  let parts = new Int32Array(4);
  let size = 0;

  function placeOf(hash: number): number {
    const last = hashes.length - 1;
    let place = Math.floor(hash / tablesCount) & last;
    while (hashes[place] !== 0 && hashes[place] !== hash + 1) place = (place + 1) & last;
    return place;
  }

  function grow(): void {
    const [formerHashes, formerParts] = [hashes, parts];
    hashes = new Float64Array(2 * formerHashes.length);
    parts = new Int32Array(hashes.length);
    for (const [i, stored] of formerHashes.entries()) {
      if (stored === 0) continue;
      const place = placeOf(stored - 1);
      hashes[place] = stored;
      parts[place] = formerParts[i] ?? 0;
    }
  }

  return {
    has: (hash: number): boolean => hashes[placeOf(hash)] !== 0,
    /** Returns the former part; null if the hash is new. */
    set(hash: number, part: number): number | null {
      if (4 * size >= 3 * hashes.length) grow();
      const place = placeOf(hash);
      const former = hashes[place] === 0 ? null : (parts[place] ?? 0);
      if (former === null) size += 1;
      hashes[place] = hash + 1;
      parts[place] = part;
      return former;
    },
  };
}

// Two multiplicative 32-bit hashes side by side, the upper one cut to 21 bits.
function hashOf(id: string): number {
  let low = 0x9e3779b1;
  let high = 0x85ebca6b;
  for (let i = 0; i < id.length; i += 1) {
    const unit = id.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0xc2b2ae35) ^ (high >>> 13);
  }
  low = Math.imul(low ^ (low >>> 16), 0x7feb352d);
  high = Math.imul(high ^ (high >>> 15), 0x846ca68b);
  return ((high ^ (high >>> 16)) >>> 11) * 0x1_0000_0000 + ((low ^ (low >>> 15)) >>> 0);
}
