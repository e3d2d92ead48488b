import type { SourcedFiling } from '../../filings/lists/ordered-walk.ts';

/** The filters of the board; null = any. */
export interface BoardFilter {
  /** In lower case. */
  readonly state: string | null;
  /** In lower case; empty = none. */
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
  if (filter.state !== null && details?.stateAbbr?.toLowerCase() !== filter.state) return false;
  return filter.reason === null || (reasonOf(state.rejectionReason) ?? '').toLowerCase() === filter.reason;
}

/** The groups of these rejections; pure. */
export function groupRejections(rejections: readonly SourcedFiling[]): Groups {
  const reasons = new Map<string | null, number>();
  const states = new Map<string | null, number>();
  for (const { state, details } of rejections) {
    count(reasons, reasonOf(state.rejectionReason));
    count(states, details?.stateAbbr ?? null);
  }
  return {
    total: rejections.length,
    byReason: mostFrequent(reasons).map(([reason, number]) => ({ reason, count: number })),
    byState: mostFrequent(states).map(([state, number]) => ({ state, count: number })),
  };
}

function reasonOf(reason: string | null): string | null {
  const text = reason?.trim().slice(0, reasonLengthMax) ?? '';
  return text === '' ? null : text;
}

function count(counts: Map<string | null, number>, of: string | null): void {
  counts.set(of, (counts.get(of) ?? 0) + 1);
}

function mostFrequent(counts: ReadonlyMap<string | null, number>): (readonly [string | null, number])[] {
  return [...counts]
    .toSorted(([a, many], [b, other]) => other - many || ((a ?? '') < (b ?? '') ? -1 : 1))
    .slice(0, groupsMax);
}
