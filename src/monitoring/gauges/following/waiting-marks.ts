import type { AccountMarkReads, MarkKind } from '../account-marks.ts';

/** The accounts that were marked and not read since, of each kind in the order of their first mark. */
export interface WaitingMarks {
  /** Reads the marks that have come since the last look; the first one begins behind the newest mark. */
  look(): Promise<void>;
  /** Those with marks of this kind. */
  of(kind: MarkKind): Iterable<string>;
  /**
   * Reads an account with marks of these kinds: one that comes meanwhile counts for the next read, and so do
   * these when `read` rejects.
   */
  reading(account: string, kinds: readonly MarkKind[], read: () => Promise<void>): Promise<void>;
  /** When the oldest of these marks was seen; null without any. */
  oldestSeenAt(): number | null;
}

const allKinds = ['changed', 'polled'] as const satisfies readonly MarkKind[];

/** Marks as they are read, with times on the clock `now`. */
export function createWaitingMarks(marks: AccountMarkReads, now: () => number): WaitingMarks {
  const places: Record<MarkKind, number> = { changed: -1, polled: -1 };
  // When their first mark was seen.
  const waiting: Record<MarkKind, Map<string, number>> = { changed: new Map(), polled: new Map() };

  async function lookFor(kind: MarkKind): Promise<void> {
    if (places[kind] < 0) places[kind] = await marks.newest(kind);
    for (;;) {
      const found = await marks.after(kind, places[kind]);
      for (const [account, place] of found) {
        if (!waiting[kind].has(account)) waiting[kind].set(account, now());
        places[kind] = place;
      }
      if (found.length === 0) return;
    }
  }

  return {
    async look() {
      for (const kind of allKinds) await lookFor(kind);
    },
    of: (kind) => waiting[kind].keys(),
    async reading(account, kinds, read) {
      const seen = kinds.map((kind) => [kind, waiting[kind].get(account)] as const);
      for (const kind of kinds) waiting[kind].delete(account);
      try {
        await read();
      } catch (error) {
        for (const [kind, at] of seen)
          if (at !== undefined && !waiting[kind].has(account)) waiting[kind].set(account, at);
        throw error;
      }
    },
    oldestSeenAt() {
      const [changed, polled] = allKinds.map((kind) => waiting[kind].values().next().value ?? Infinity);
      const oldest = Math.min(changed ?? Infinity, polled ?? Infinity);
      return oldest === Infinity ? null : oldest;
    },
  };
}
