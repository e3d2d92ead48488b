/** A filing never seen before, after a baseline that had to leave some out. */
export interface Newcomer {
  readonly id: string;
  /** When it was created by its own account, milliseconds; NaN when it does not say. */
  readonly createdAt: number;
}

/** What is known about the filings that a baseline left out. */
export interface Doubt {
  /** When the poll that completed the baseline began, milliseconds. */
  readonly baselinedAt: number;
  /**
   * So many filings more does the service count than before: that many births and no more. Null without a
   * count.
   */
  readonly counted: number | null;
}

/**
 * Which of these newcomers were there before the baseline ended, to be taken in silently; pure. Created since
 * then by its own account, a filing is new; of the others as many as the count has grown by, the latest
 * first. Where neither speaks for a birth there was none: a list that is mended must not announce what it
 * hid.
 */
export function oldNewcomers(
  newcomers: readonly Newcomer[],
  { baselinedAt, counted }: Doubt,
): ReadonlySet<string> {
  const undated = newcomers.filter(({ createdAt }) => !(createdAt > baselinedAt));
  const births = Math.max(0, (counted ?? 0) - (newcomers.length - undated.length));
  const latestFirst = undated.toSorted((a, b) => (b.createdAt || 0) - (a.createdAt || 0));
  return new Set(latestFirst.slice(births).map(({ id }) => id));
}
