import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

/**
 * Which blocks of some sources have run, as V8 counts them. Functions that ran before this began are counted
 * as a whole.
 */
export interface BlockCoverage extends Disposable {
  /** Whether anything has run since the last look that never ran before. Remembers nothing. */
  isNew(): Promise<boolean>;
  /**
   * Remembers what has run since the last look; how much of it is new, by block and by magnitude of its
   * count.
   */
  remember(): Promise<number>;
  /** Blocks that ever ran, and those of the functions that ever ran. */
  blocks(): { readonly covered: number; readonly known: number };
  /** Paths of the sources that have run. */
  files(): string[];
  /** Nothing has run so far. */
  forget(): Promise<void>;
}

interface Block {
  readonly start: number;
  readonly end: number;
  /** A bit for each magnitude that its count ever had in one look; 0 = it never ran. */
  magnitudes: number;
}

/**
 * Counts in the sources whose URL begins with `prefix`, in this thread, until it is disposed of. One at a
 * time.
 */
export async function startBlockCoverage(prefix: string): Promise<BlockCoverage> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const known = new Map<string, Block[]>();
  const files = new Set<string>();

  async function look(see: (block: Block, count: number) => void): Promise<void> {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    for (const { url, functions } of result) {
      if (!url.startsWith(prefix)) continue;
      files.add(fileURLToPath(url));
      for (const { ranges } of functions) {
        for (const block of blocksOf(known, url, ranges)) see(block, countOf(block, ranges));
      }
    }
  }

  return {
    async isNew() {
      let found = false;
      await look(({ magnitudes }, count) => (found ||= count > 0 && magnitudes === 0));
      return found;
    },
    async remember() {
      let found = 0;
      await look((block, count) => {
        const magnitude = count === 0 ? 0 : 1 << Math.min(8, Math.ceil(Math.log2(count)));
        if ((block.magnitudes & magnitude) !== magnitude) found += 1;
        block.magnitudes |= magnitude;
      });
      return found;
    },
    blocks() {
      const all = [...known.values()].flat();
      return { covered: all.filter(({ magnitudes }) => magnitudes !== 0).length, known: all.length };
    },
    files: () => [...files],
    async forget() {
      await look(() => {});
      known.clear();
      files.clear();
    },
    [Symbol.dispose]: () => session.disconnect(),
  };
}

/**
 * All blocks of a function that V8 has told of so far: it leaves out those that ran as often as what
 * surrounds them.
 */
function blocksOf(
  known: Map<string, Block[]>,
  url: string,
  ranges: readonly Profiler.CoverageRange[],
): Block[] {
  const key = `${url}:${ranges[0]?.startOffset}:${ranges[0]?.endOffset}`;
  const blocks = known.get(key) ?? [];
  known.set(key, blocks);
  for (const { startOffset: start, endOffset: end } of ranges) {
    if (!blocks.some((block) => block.start === start && block.end === end))
      blocks.push({ start, end, magnitudes: 0 });
  }
  return blocks;
}

// Ranges come from the outside in, so the last one around a block is the closest.
function countOf({ start, end }: Block, ranges: readonly Profiler.CoverageRange[]): number {
  return ranges.findLast((range) => range.startOffset <= start && range.endOffset >= end)?.count ?? 0;
}
