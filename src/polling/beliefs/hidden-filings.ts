/** The facts about the filings that a baseline left out. */
export interface BaselineGap {
  /** When the poll that completed the baseline began, milliseconds. */
  readonly baselinedAt: number;
  /** Number of births: the filings by which the service's count has grown. Null without a count. */
  readonly counted: number | null;
}

/**
 * Finds, among filings never seen before, the ids of those that existed before the baseline ended, to be
 * added without an event. A filing is new if its own `createdAt` (ms, NaN if its document gives none) is
 * later than that. Of the others, the latest are new, up to the number by which the count has grown. Without
 * a count or a `createdAt` no filing is new: a mended list must not announce the filings that it hid.
 */
export function hiddenFilings(
  unknown: readonly { readonly id: string; readonly createdAt: number }[],
  { baselinedAt, counted }: BaselineGap,
): ReadonlySet<string> {
  const undated = unknown.filter(({ createdAt }) => !(createdAt > baselinedAt));
  const births = Math.max(0, (counted ?? 0) - (unknown.length - undated.length));
  const latestFirst = undated.toSorted((a, b) => (b.createdAt || 0) - (a.createdAt || 0));
  return new Set(latestFirst.slice(births).map(({ id }) => id));
}
