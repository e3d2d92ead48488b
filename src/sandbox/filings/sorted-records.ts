/** The order of a list: milliseconds of creation, then order of arrival. */
export interface Position {
  readonly createdAtMs: number;
  readonly arrival: number;
}

/** Records in order: a page costs its own length, and a change one binary search. */
export interface SortedRecords<T extends Position> {
  readonly size: number;
  add(record: T): void;
  /** Adds many with a single sort. */
  addMany(records: readonly T[]): void;
  /** Removes the record at this record's position, if there is one. */
  remove(record: T): void;
  /** The record `index` places from the newest, or undefined. */
  at(index: number): T | undefined;
  /** Up to `limit` records after the `offset` newest ones, newest first. */
  newestFirst(offset: number, limit: number): T[];
  /** All records that match the predicate, newest first; looks at every one. */
  matching(predicate: (record: T) => boolean): T[];
}

/** An empty list of records. */
export function createSortedRecords<T extends Position>(): SortedRecords<T> {
  const oldestFirst: T[] = [];
  return {
    get size() {
      return oldestFirst.length;
    },
    add(record) {
      const last = oldestFirst.at(-1);
      if (last === undefined || compare(last, record) < 0) oldestFirst.push(record);
      else oldestFirst.splice(placeOf(oldestFirst, record), 0, record);
    },
    addMany(records) {
      for (const record of records) oldestFirst.push(record);
      oldestFirst.sort(compare);
    },
    remove(record) {
      const place = placeOf(oldestFirst, record);
      const found = oldestFirst[place];
      if (found !== undefined && compare(found, record) === 0) oldestFirst.splice(place, 1);
    },
    at: (index) => oldestFirst[oldestFirst.length - 1 - index],
    newestFirst(offset, limit) {
      const end = Math.max(oldestFirst.length - offset, 0);
      return oldestFirst.slice(Math.max(end - limit, 0), end).toReversed();
    },
    matching: (predicate) => oldestFirst.filter(predicate).toReversed(),
  };
}

function compare(left: Position, right: Position): number {
  return left.createdAtMs - right.createdAtMs || left.arrival - right.arrival;
}

function placeOf(oldestFirst: readonly Position[], wanted: Position): number {
  let low = 0;
  let high = oldestFirst.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const probe = oldestFirst[middle];
    if (probe !== undefined && compare(probe, wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
