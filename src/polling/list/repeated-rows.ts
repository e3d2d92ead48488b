import type { PartnerFiling } from '../../partner/filing-schema.ts';

/** The filings of a page by what their being on it proves. */
export interface Sights {
  /** Shown for the first time in this poll, each once. */
  readonly first: readonly PartnerFiling[];
  /**
   * Shown before in this poll, or twice on this page and not alike. Only reading it by itself tells which
   * copy is the later one.
   */
  readonly again: readonly PartnerFiling[];
}

/** Splits a page; `see` takes note of an id, and tells whether this poll has not shown it before. */
export function splitSights(filings: readonly PartnerFiling[], see: (id: string) => boolean): Sights {
  const repeats = filings.filter(({ id }) => !see(id));
  if (repeats.length === 0) return { first: filings, again: [] };
  const copies = new Map<string, PartnerFiling>();
  const again = new Set(repeats.map(({ id }) => id));
  // What is new to the poll and twice on this page is as good as once where its copies are alike.
  for (const filing of filings) {
    if (repeats.includes(filing)) continue;
    copies.set(filing.id, filing);
    if (repeats.every((other) => other.id !== filing.id || isAlike(filing, other))) again.delete(filing.id);
  }
  return {
    first: [...copies.values()].filter(({ id }) => !again.has(id)),
    again: filings.filter(({ id }) => again.has(id)),
  };
}

function isAlike(a: PartnerFiling, b: PartnerFiling): boolean {
  return a.status === b.status && a.completedAt === b.completedAt && a.rejectionReason === b.rejectionReason;
}
