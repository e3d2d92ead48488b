import { bySource, type AgeOrder, type OrderedSource } from './ordered-place.ts';

/** A source that is merged by age: its filings that were read, and whether there are more. */
export interface Merged {
  readonly source: OrderedSource;
  readonly entries: readonly { readonly rank: string }[];
  /** Which of them is the next. */
  readonly at: number;
  readonly isAtEnd: boolean;
}

/** Sources in the order of their next filings; equally old ones by account and status. */
export interface Merge<T extends Merged> {
  /** A source with nothing left and nothing to be read is left out. One that has to be read comes first. */
  add(source: T): void;
  first(): T | null;
  /** Takes the first one out. */
  takeFirst(): void;
}

/** A merge in memory; an addition compares with a few of the others, however many there are. */
export function createMerge<T extends Merged>(order: AgeOrder): Merge<T> {
  // The first one is at the end.
  const sorted: T[] = [];

  function isBefore(a: T, b: T): boolean {
    const [x, y] = [a.entries[a.at]?.rank, b.entries[b.at]?.rank];
    if (x === undefined || y === undefined) return x === undefined;
    return x === y ? bySource(a.source, b.source) < 0 : x < y === (order === 'newest');
  }

  return {
    add(source) {
      if (source.entries[source.at] === undefined && source.isAtEnd) return;
      let [low, high] = [0, sorted.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (isBefore(source, sorted[middle] as T)) low = middle + 1;
        else high = middle;
      }
      sorted.splice(low, 0, source);
    },
    first: () => sorted.at(-1) ?? null,
    takeFirst: () => void sorted.pop(),
  };
}
