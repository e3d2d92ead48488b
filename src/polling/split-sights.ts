import type { PartnerFiling } from '../partner/filing-schema.ts';
import type { IdSet } from './id-set.ts';

/** The filings of a page by what their being on it proves. */
export interface Sights {
  /** Shown for the first time in this poll, each once. */
  readonly first: readonly PartnerFiling[];
  /** Shown before in this poll, or twice on this page and not alike. Only reading it by itself tells which copy is the later one. */
  readonly again: readonly PartnerFiling[];
}

/** Splits a page, and adds its ids to those `shown` in this poll. */
export function splitSights(filings: readonly PartnerFiling[], shown: IdSet): Sights {
  const onPage = new Map<string, PartnerFiling>();
  const torn = new Set<string>();
  for (const filing of filings) {
    const other = onPage.get(filing.id);
    if (other === undefined) onPage.set(filing.id, filing);
    else if (!isAlike(filing, other)) torn.add(filing.id);
  }
  const first: PartnerFiling[] = [];
  for (const [id, filing] of onPage) if (shown.add(id) && !torn.has(id)) first.push(filing);
  const firsts = new Set(first.map(({ id }) => id));
  return { first, again: filings.filter(({ id }) => !firsts.has(id)) };
}

function isAlike(a: PartnerFiling, b: PartnerFiling): boolean {
  return a.status === b.status && a.completedAt === b.completedAt && a.rejectionReason === b.rejectionReason;
}
