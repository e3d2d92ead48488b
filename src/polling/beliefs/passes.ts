import type { ScanEnd } from '../list/scan-position.ts';

/** The result of one pass over the whole list. */
export interface Pass {
  readonly end: ScanEnd;
  /** The service's count less the known filings, or null if its count is not reliable. */
  readonly difference: number | null;
  /** The lowest count of the service less the known filings; 0 when no count is reliable. */
  readonly unlistedCount: number;
  /** Of the difference, the records that cannot be read as filings. */
  readonly unreadable: number;
  /** Filings that this pass saw for the first time ever. */
  readonly added: number;
  /**
   * Share of the rows served that repeated others, and so of the list that was not shown: 0 for a stable
   * order, about 0.37 for a random one.
   */
  readonly repeatShare: number;
  /**
   * Maximum number of known filings that no pass of this poll has shown. Filings removed meanwhile may have
   * been shown.
   */
  readonly unseen: number;
  readonly pages: number;
}

/** The facts beside the last pass that decide about another one. */
export interface PassHistory {
  readonly passes: number;
  /** Filings unseen before the last pass; Infinity before the first. */
  readonly unseenBefore: number;
  readonly baselined: boolean;
  /** Whether filings that the service counts and that are not known are to be searched for. */
  readonly searching: boolean;
}

const passesMax = 60;
// Maximum share of repeated rows in a list that moves while it is read. A higher share means that the list
// has no order.
const stableShareMax = 0.005;
// Maximum share of the unseen filings that a pass may leave for another pass to be worthwhile.
const unseenShrinkMin = 0.9;

/** Whether to read the whole list once more in the same poll. */
export function isAnotherPassWorthwhile(pass: Pass, history: PassHistory): boolean {
  const { passes, unseenBefore, baselined, searching } = history;
  if (pass.end === 'broken' || pass.end === 'cut' || passes >= passesMax) return false;
  if (pass.unseen > pass.pages && pass.unseen < unseenBefore * unseenShrinkMin) return true;
  if (!baselined) return pass.added > 0 && unexplained(pass) !== 0;
  const extraMax = pass.repeatShare > stableShareMax ? looksNeeded(pass.repeatShare) : 1;
  return searching && (unexplained(pass) ?? 0) > 0 && passes <= extraMax;
}

/** Filings still to be found: the service's count less what is known or unreadable. Null without a count. */
export function unexplained({ difference, unreadable }: Pass): number | null {
  return difference === null ? null : difference - unreadable;
}

const looksMin = 3;
const looksMax = 40;
const oddsMax = 1e-5;
// Minimum share of repeated rows assumed of an unstable list. By chance a single pass may repeat far fewer
// rows than it overlooks.
const unstableShareMin = 0.4;

/**
 * Number of passes or polls in a row without a new filing after which no filing is left to find, although the
 * counts differ. One of them overlooks a filing with a probability of its share of repeated rows; all of them
 * do so with less than 1 in 100 000. At least three, because a list may be cut short for a while.
 */
export function looksNeeded(repeatShare: number): number {
  if (repeatShare <= stableShareMax) return looksMin;
  const share = Math.max(repeatShare, unstableShareMin);
  return share >= 1 ? looksMax : Math.min(Math.ceil(Math.log(oddsMax) / Math.log(share)), looksMax);
}

/** Whether the account now has its baseline. */
export interface BaselineVerdict {
  readonly baselined: boolean;
  /** Number of polls in a row that found nothing new. */
  readonly pollsWithoutNews: number;
  /** Lowest number of filings that the service counted in these polls and did not list. */
  readonly unlistedCount: number;
}

/**
 * Decides after a poll without a baseline. The baseline is complete when the number of known filings equals
 * the service's count. If the two cannot become equal (unreadable records, wrong counts, no counts), it is
 * complete after enough polls that found nothing new. A count that is too high and a list that ends too early
 * look alike, so the difference is kept: that number of filings may appear later without being new. Pages
 * that are missing or repeat themselves never complete a baseline. A list that is cut completes it at once,
 * because later polls cannot read behind the cut either.
 */
export function baselineVerdict(last: Pass, before: Omit<BaselineVerdict, 'baselined'>): BaselineVerdict {
  const { pollsWithoutNews } = before;
  if (last.end === 'broken') return { ...before, baselined: false };
  const unlistedCount =
    pollsWithoutNews === 0 ? last.unlistedCount : Math.min(last.unlistedCount, before.unlistedCount);
  const left = unexplained(last);
  if (last.end === 'cut' || (left !== null && left <= 0))
    return { baselined: true, pollsWithoutNews: 0, unlistedCount };
  if (last.added > 0) return { baselined: false, pollsWithoutNews: 0, unlistedCount };
  const polls = pollsWithoutNews + 1;
  return { baselined: polls >= looksNeeded(last.repeatShare), pollsWithoutNews: polls, unlistedCount };
}

/**
 * Number of filings that the baseline left out and that may still appear, after a later pass. A lower count
 * of the service lowers this number, too.
 */
export function stillUnlisted(last: Pass, before: number): number {
  if (last.end === 'broken' || last.added > 0 || last.difference === null) return before;
  return Math.max(0, Math.min(before, last.difference));
}
