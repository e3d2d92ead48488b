import { showsTheSame } from '../../filings/detection/filing-state.ts';
import type { PartnerFiling } from '../../partner/filing-schema.ts';
import type { PageAnswer } from '../../partner/partner-client.ts';

/** The filings of a page, split by whether this page alone proves their state. */
export interface PageRows {
  /** Filings shown for the first time in this poll, each once. */
  readonly firstShown: readonly PartnerFiling[];
  /**
   * Filings shown before in this poll, or twice on this page with different contents. Only a read of the
   * filing itself decides which copy is the later one.
   */
  readonly repeated: readonly PartnerFiling[];
}

/** A page, split by what the poll had shown before. */
export interface ShownPage extends PageAnswer {
  readonly rows: PageRows;
}

/** Splits a page; `show` takes note of an id and returns whether this poll had not shown it before. */
export function splitRepeatedRows(
  filings: readonly PartnerFiling[],
  show: (id: string) => boolean,
): PageRows {
  const repeats = new Set(filings.filter(({ id }) => !show(id)));
  if (repeats.size === 0) return { firstShown: filings, repeated: [] };
  const copies = new Map<string, PartnerFiling>();
  const repeated = new Set<string>();
  for (const filing of filings) if (!repeats.has(filing)) copies.set(filing.id, filing);
  // A filing that is new to the poll and stands twice on this page counts once if its copies are alike.
  for (const repeat of repeats) {
    const first = copies.get(repeat.id);
    if (first === undefined || !showsTheSame(first, repeat)) repeated.add(repeat.id);
  }
  return {
    firstShown: [...copies.values()].filter(({ id }) => !repeated.has(id)),
    repeated: filings.filter(({ id }) => repeated.has(id)),
  };
}
