/** Whether an id was new to the set, to the part of it only, or to neither. */
export type Membership = 'new' | 'elsewhere' | 'again';

/** A part of a set, distinct from the rest until it is ended. */
export interface IdPart {
  add(id: string): Membership;
  /** Its ids stay in the set. */
  end(): void;
}

/**
 * A set of ids that keeps 53-bit hashes of them: 18 to 36 bytes an id instead of about a hundred, so that a
 * sweep of a million filings fits. Two ids may be taken for one, at odds of one in 10^10 per million, which
 * costs a filing one look in a sweep.
 */
export interface IdSet {
  readonly size: number;
  /** Returns whether the id was new. */
  add(id: string): boolean;
  has(id: string): boolean;
  /** Begins a part, empty at first. Throws RangeError when eight have not been ended. */
  part(): IdPart;
}

const slotsMin = 64;
const partsMax = 8;
// Number of ids from which on they are spread over several tables. One that is full doubles while nothing
// else of the process runs: ten milliseconds among ten million ids, half a second for a table of all of them.
const spreadFrom = 16_384;
const spreadOver = 256;

/** Hashes of ids by open addressing, and for each slot a bit per part. */
interface Table {
  slots: Float64Array;
  marks: Uint8Array;
  size: number;
}

/** An empty set. */
export function createIdSet(): IdSet {
  let tables: readonly Table[] = [emptyTable(slotsMin)];
  let partsOpen = 0;
  let size = 0;

  function add(id: string, bit: number): Membership {
    const hash = hashOf(id);
    const table = tableOf(tables, hash);
    const slot = slotOf(table, hash);
    const known = table.slots[slot] === hash;
    const former = table.marks[slot] ?? 0;
    table.slots[slot] = hash;
    table.marks[slot] = former | bit;
    if (known) return (former & bit) === 0 ? 'elsewhere' : 'again';
    size += 1;
    table.size += 1;
    if (tables.length === 1 && size === spreadFrom) tables = spread(table);
    else if (table.size * 2 > table.slots.length) grow(table);
    return 'new';
  }

  function freeBit(): number {
    for (let bit = 1; bit < 1 << partsMax; bit <<= 1) if ((partsOpen & bit) === 0) return bit;
    throw new RangeError(`more than ${partsMax} parts of an id set at a time`);
  }

  return {
    get size() {
      return size;
    },
    add: (id) => add(id, 0) === 'new',
    has(id) {
      const hash = hashOf(id);
      const table = tableOf(tables, hash);
      return table.slots[slotOf(table, hash)] !== 0;
    },
    part() {
      const bit = freeBit();
      partsOpen |= bit;
      return {
        add: (id) => add(id, bit),
        end() {
          partsOpen &= ~bit;
          for (const { marks } of tables)
            for (let slot = 0; slot < marks.length; slot += 1) marks[slot] = (marks[slot] ?? 0) & ~bit;
        },
      };
    },
  };
}

function emptyTable(slots: number): Table {
  return { slots: new Float64Array(slots), marks: new Uint8Array(slots), size: 0 };
}

// The upper bits choose the table, the lower ones the slot.
function tableOf(tables: readonly Table[], hash: number): Table {
  return tables[tables.length === 1 ? 0 : Math.floor(hash / 0x1_0000_0000) % spreadOver] as Table;
}

function slotOf({ slots }: Table, hash: number): number {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0 && slots[slot] !== hash) slot = (slot + 1) & mask;
  return slot;
}

function grow(table: Table): void {
  const grown = emptyTable(table.slots.length * 2);
  moveAll(table, () => grown);
  Object.assign(table, grown);
}

function spread(table: Table): Table[] {
  const tables = Array.from({ length: spreadOver }, () => emptyTable((4 * spreadFrom) / spreadOver));
  moveAll(table, (hash) => tableOf(tables, hash));
  return tables;
}

function moveAll({ slots, marks }: Table, to: (hash: number) => Table): void {
  slots.forEach((hash, former) => {
    if (hash === 0) return;
    const table = to(hash);
    const slot = slotOf(table, hash);
    table.slots[slot] = hash;
    table.marks[slot] = marks[former] ?? 0;
    table.size += 1;
  });
}

// Two multiplicative 32-bit hashes side by side, the upper one cut to 21 bits; never 0, which marks a free
// slot.
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
