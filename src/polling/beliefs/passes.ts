import type { ScanEnd } from '../list/scan-progress.ts';

/** What one pass over the whole list has shown. */
export interface Pass {
  readonly end: ScanEnd;
  /** The service's count less what is known; null when its count is not to be relied on. */
  readonly difference: number | null;
  /** What even the lowest count leaves over; 0 when no count is to be relied on. */
  readonly hidden: number;
  /** Of the difference, the records that cannot be read as filings. */
  readonly unreadable: number;
  /** Filings that this pass saw for the first time ever. */
  readonly added: number;
  /**
   * Share of the rows served that repeated others: 0 for a stable order, about 0.37 for a random one. So much
   * was not shown.
   */
  readonly repeatShare: number;
  /**
   * Known filings that no pass of this poll has shown, at most: those removed meanwhile may have been shown.
   */
  readonly unseen: number;
  readonly pages: number;
}

/** What the decision about another pass rests on, beside the last pass. */
export interface PassHistory {
  readonly passes: number;
  /** Filings unseen before the last pass; Infinity before the first. */
  readonly unseenBefore: number;
  readonly baselined: boolean;
  /** Whether filings that the service counts and nobody knows are to be searched for. */
  readonly searching: boolean;
}

const passesMax = 60;
// A list that moves while it is read repeats a few rows; more means that it has no order.
const stableShareMax = 0.005;
// Reading filings one by one is cheaper than a pass up to here, and stays so while passes hardly help.
const unseenShrinkMin = 0.9;

/** Whether to read the whole list once more in the same poll; pure. */
export function isAnotherPassWorthwhile(pass: Pass, history: PassHistory): boolean {
  const { passes, unseenBefore, baselined, searching } = history;
  if (pass.end === 'broken' || passes >= passesMax) return false;
  if (pass.unseen > pass.pages && pass.unseen < unseenBefore * unseenShrinkMin) return true;
  if (!baselined) return pass.added > 0 && unexplained(pass) !== 0;
  const extraMax = pass.repeatShare > stableShareMax ? dryLooks(pass.repeatShare) : 1;
  return searching && (unexplained(pass) ?? 0) > 0 && passes <= extraMax;
}

/**
 * The service's count less what is known and what cannot be read: filings still to be found. Null when there
 * is no count.
 */
export function unexplained({ difference, unreadable }: Pass): number | null {
  return difference === null ? null : difference - unreadable;
}

const dryMin = 3;
const dryMax = 40;
const oddsMax = 1e-5;
// What a single look repeats may by chance be much less than what it overlooks.
const unstableShareMin = 0.4;

/**
 * So many looks in a row that find nothing new mean that nothing is left, although the counts differ; pure. A
 * look overlooks a filing with the probability that its rows repeat each other, all of them with less than 1
 * in 100 000. At least three, because a list may be cut short for a while.
 */
export function dryLooks(repeatShare: number): number {
  if (repeatShare <= stableShareMax) return dryMin;
  const share = Math.max(repeatShare, unstableShareMin);
  return share >= 1 ? dryMax : Math.min(Math.ceil(Math.log(oddsMax) / Math.log(share)), dryMax);
}

/**
 * Whether the account now has its baseline; `dryPolls` is the number of polls in a row that found nothing
 * new, `hidden` the fewest filings that the service counted in these and did not show.
 */
export interface BaselineVerdict {
  readonly baselined: boolean;
  readonly dryPolls: number;
  readonly hidden: number;
}

/**
 * Decides after a poll without a baseline; pure. It is complete when the known filings number the service's
 * count. Where they do not and cannot (records that cannot be read, wrong counts, none at all), it is
 * complete after enough polls that found nothing new. A count that is too high and a list that ends too early
 * look alike, so the difference is kept as `hidden`: as many filings may come to light later without being
 * new. Pages that are missing or repeat themselves never complete a baseline.
 */
export function baselineVerdict(
  last: Pass,
  { dryPolls, hidden: before }: Pick<BaselineVerdict, 'dryPolls' | 'hidden'>,
): BaselineVerdict {
  if (last.end === 'broken') return { baselined: false, dryPolls, hidden: before };
  const hidden = dryPolls === 0 ? last.hidden : Math.min(last.hidden, before);
  const left = unexplained(last);
  if (left !== null && left <= 0) return { baselined: true, dryPolls: 0, hidden };
  if (last.added > 0) return { baselined: false, dryPolls: 0, hidden };
  return { baselined: dryPolls + 1 >= dryLooks(last.repeatShare), dryPolls: dryPolls + 1, hidden };
}

/**
 * How many filings that the baseline left out may still come to light, after a later pass; pure. A count that
 * has come down counts no more of them.
 */
export function stillHidden(last: Pass, hidden: number): number {
  if (last.end === 'broken' || last.added > 0 || last.difference === null) return hidden;
  return Math.max(0, Math.min(hidden, last.difference));
}
