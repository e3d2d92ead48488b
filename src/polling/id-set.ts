/**
 * A set of ids that keeps 53-bit hashes of them: 8 to 16 bytes an id instead of about a hundred, so that a sweep of a
 * million filings fits. Two ids may be taken for one, at odds of one in 10^10 per million, which costs a filing one look in a sweep.
 */
export interface IdSet {
  readonly size: number;
  /** Returns whether the id was new. */
  add(id: string): boolean;
  has(id: string): boolean;
}

const slotsMin = 64;

/** An empty set. */
export function createIdSet(): IdSet {
  let slots = new Float64Array(slotsMin);
  let size = 0;

  function slotOf(hash: number): number {
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0 && slots[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  function addHash(hash: number): boolean {
    const slot = slotOf(hash);
    if (slots[slot] === hash) return false;
    slots[slot] = hash;
    size += 1;
    if (size * 2 > slots.length) grow();
    return true;
  }

  function grow(): void {
    const former = slots;
    slots = new Float64Array(former.length * 2);
    for (const hash of former) if (hash !== 0) slots[slotOf(hash)] = hash;
  }

  return {
    get size() {
      return size;
    },
    add: (id) => addHash(hashOf(id)),
    has: (id) => slots[slotOf(hashOf(id))] !== 0,
  };
}

// Two multiplicative 32-bit hashes side by side, the upper one cut to 21 bits; never 0, which marks a free slot.
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
  return ((high ^ (high >>> 16)) >>> 11) * 0x1_0000_0000 + ((low ^ (low >>> 15)) >>> 0) || 1;
}
