/**
 * How far a subscription has got in the log: a cursor up to which every position is done, and the done positions
 * beyond it. Done means acknowledged, moved to a lane, given up, trimmed away or not asked for.
 */
export interface Progress {
  cursor(): number;
  /** The done positions beyond the cursor as closed ranges, `7-9,12`; empty when there are none. */
  done(): string;
  isDone(position: number): boolean;
  markDone(position: number): void;
  /** Marks all positions from `first` to `last`, both included. */
  markRange(first: number, last: number): void;
}

/** Takes up progress where its stored form left it. */
export function createProgress(cursor: number, done: string): Progress {
  let contiguous = cursor;
  const beyond = new Set<number>();

  function markDone(position: number): void {
    if (position <= contiguous) return;
    beyond.add(position);
    while (beyond.delete(contiguous + 1)) contiguous += 1;
  }

  function markRange(first: number, last: number): void {
    // A trimmed stretch may be long; where it touches the cursor it is one step.
    if (first <= contiguous + 1 && beyond.size === 0) contiguous = Math.max(contiguous, last);
    else for (let position = first; position <= last; position += 1) markDone(position);
  }

  for (const range of done === '' ? [] : done.split(',')) {
    const [first = 0, last = first] = range.split('-').map(Number);
    for (let position = first; position <= last; position += 1) markDone(position);
  }

  return {
    cursor: () => contiguous,
    done: () => toRanges([...beyond]),
    isDone: (position) => position <= contiguous || beyond.has(position),
    markDone,
    markRange,
  };
}

function toRanges(positions: number[]): string {
  const ranges: string[] = [];
  let first = -1;
  let last = -1;
  const close = () => {
    if (first >= 0) ranges.push(first === last ? String(first) : `${first}-${last}`);
  };
  for (const position of positions.sort((a, b) => a - b)) {
    if (position !== last + 1 || first < 0) {
      close();
      first = position;
    }
    last = position;
  }
  close();
  return ranges.join(',');
}
