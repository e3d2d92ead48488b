import { folded } from '../../words/folded.ts';
import type { SourcedFiling } from '../../filings/lists/ordered-walk.ts';
import { cutText } from '../../json/cut-text.ts';

/** The filters of the board; null = any. */
export interface BoardFilter {
  /** Folded. */
  readonly state: string | null;
  /** Folded; empty = none. */
  readonly reason: string | null;
  readonly seen: boolean | null;
}

/** How often each reason and each state occurs among rejections, the most frequent first. */
export interface Groups {
  readonly total: number;
  readonly byReason: readonly { readonly reason: string | null; readonly count: number }[];
  readonly byState: readonly { readonly state: string | null; readonly count: number }[];
}

// Maximum number of groups that are shown.
const groupsMax = 50;
// Maximum characters of a reason that tell groups apart.
const reasonLengthMax = 200;

/** Whether the filters select this rejection; pure. */
export function isSelected({ state, details, seen }: SourcedFiling, filter: BoardFilter): boolean {
  if (filter.seen !== null && filter.seen !== (seen !== null)) return false;
  if (filter.state !== null && folded(details?.stateAbbr ?? '') !== filter.state) return false;
  return filter.reason === null || folded(reasonOf(state.rejectionReason) ?? '') === filter.reason;
}

/** The groups of these rejections, each with the first of its spellings; pure. */
export function groupRejections(rejections: readonly SourcedFiling[]): Groups {
  const reasons = rejections.map(({ state }) => reasonOf(state.rejectionReason));
  const states = rejections.map(({ details }) => details?.stateAbbr ?? null);
  return {
    total: rejections.length,
    byReason: mostFrequent(reasons).map(([reason, count]) => ({ reason, count })),
    byState: mostFrequent(states).map(([state, count]) => ({ state, count })),
  };
}

// Composed, so that what is cut off does not depend on the form.
function reasonOf(reason: string | null): string | null {
  const text = cutText(reason?.normalize().trim() ?? '', reasonLengthMax);
  return text === '' ? null : text;
}

function mostFrequent(texts: readonly (string | null)[]): (readonly [string | null, number])[] {
  const groups = new Map<string | null, [text: string | null, count: number]>();
  for (const text of texts) {
    const key = text === null ? null : folded(text);
    const [first, count] = groups.get(key) ?? [text, 0];
    groups.set(key, [first, count + 1]);
  }
  return [...groups.values()]
    .toSorted(([a, many], [b, other]) => other - many || ((a ?? '') < (b ?? '') ? -1 : 1))
    .slice(0, groupsMax);
}
