/**
 * The progress of a subscription in the log: the position up to which all events are done, and the done
 * positions beyond it. Done means delivered, moved to a lane, given up, trimmed away or not asked for.
 */
export type Cursor = ReturnType<typeof createCursor>;

interface Range {
  readonly first: number;
  readonly last: number;
}

/** Restores a cursor from its stored form. */
export function createCursor(cursor: number, done: string) {
  let contiguous = cursor;
  // Beyond the cursor, in order, neither overlapping nor touching each other.
  const ranges: Range[] = [];

  function markRange(from: number, to: number): number {
    const clipped = Math.max(from, contiguous + 1);
    if (to < clipped) return 0;
    let [first, last, marked] = [clipped, to, to - clipped + 1];
    const start = firstReaching(ranges, clipped - 1);
    let end = start;
    for (let next = ranges[end]; next !== undefined && next.first <= to + 1; next = ranges[end]) {
      marked -= Math.max(0, Math.min(next.last, to) - Math.max(next.first, clipped) + 1);
      first = Math.min(first, next.first);
      last = Math.max(last, next.last);
      end += 1;
    }
    const reachesCursor = first === contiguous + 1;
    if (reachesCursor) contiguous = last;
    ranges.splice(start, end - start, ...(reachesCursor ? [] : [{ first, last }]));
    return marked;
  }

  for (const { first, last } of parseRanges(done)) markRange(first, last);

  return {
    /** Every position up to this one is done. */
    position: (): number => contiguous,
    /** The last position that is done. */
    last: (): number => ranges.at(-1)?.last ?? contiguous,
    /** The done positions beyond the cursor as closed ranges, `7-9,12`; empty when there are none. */
    done: (): string => ranges.map(toText).join(','),
    isDone(position: number): boolean {
      if (position <= contiguous) return true;
      const range = ranges[firstReaching(ranges, position)];
      return range !== undefined && range.first <= position;
    },
    markDone: (position: number) => void markRange(position, position),
    /**
     * Marks all positions from `first` to `last`, both included, and returns how many were not done before.
     */
    markRange,
  };
}

/** Number of positions in the stored form of `done`. */
export function countDone(done: string): number {
  return parseRanges(done).reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

function parseRanges(done: string): Range[] {
  return (done === '' ? [] : done.split(',')).map((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return { first, last };
  });
}

// Index of the first range that ends at `position` or later.
function firstReaching(ranges: readonly Range[], position: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.last ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function toText({ first, last }: Range): string {
  return first === last ? String(first) : `${first}-${last}`;
}
