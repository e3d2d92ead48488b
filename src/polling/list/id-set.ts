/** Whether an id was new to the set, to the part of it only, or to neither. */
export type Membership = 'new' | 'elsewhere' | 'again';

/**
 * A set of ids in parts. It keeps 53-bit hashes of them, half of what the ids take, so that a sweep of a
 * million filings fits. Two ids may be taken for one, at odds of one in 10^10 per million, which costs a
 * filing one look in a sweep.
 */
export type IdSet = ReturnType<typeof createIdSet>;

// Number of tables over which ids are spread: none is so large that its growth holds up the process.
const tablesCount = 64;

/** An empty set. */
export function createIdSet() {
  // Hashes, and the last part that has named each.
  const tables = Array.from({ length: tablesCount }, () => new Map<number, number>());
  const tableOf = (hash: number) => tables[hash % tablesCount] as Map<number, number>;
  return {
    get size() {
      return tables.reduce((sum, table) => sum + table.size, 0);
    },
    /**
     * Adds an id to a part, which is any number. An id that parts name by turns counts as new to the part.
     */
    add(id: string, part: number): Membership {
      const hash = hashOf(id);
      const table = tableOf(hash);
      const former = table.get(hash);
      table.set(hash, part);
      if (former === undefined) return 'new';
      return former === part ? 'again' : 'elsewhere';
    },
    has(id: string): boolean {
      const hash = hashOf(id);
      return tableOf(hash).has(hash);
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
