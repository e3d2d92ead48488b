/**
 * What one account's polls make of a difference between the service's count of a list and ours. A difference
 * may be a change between two requests, a filing to be found, or nothing that ever goes away (a record that
 * cannot be read, a service that counts wrongly). Kept in memory; losing it costs one needless search.
 */
export interface CountDoubt {
  /** The difference that a search has left over: it means nothing any more. */
  readonly explained: number;
  /** Polls in a row that met another difference. */
  readonly sights: number;
  /** So many such polls lead to a search. */
  readonly needed: number;
}

// One sight may be a change between two requests of the same poll.
const neededMin = 2;
const neededMax = 64;

/** Nothing met so far. */
export const noDoubt: CountDoubt = { explained: 0, sights: 0, needed: neededMin };

/** What to do about a difference. */
export type DoubtVerdict = 'nothing' | 'wait' | 'search';

/** Takes one poll's difference (the service's count less ours) into account; pure. */
export function weighDifference(
  doubt: CountDoubt,
  difference: number,
): { readonly doubt: CountDoubt; readonly verdict: DoubtVerdict } {
  if (difference === 0) return { doubt: noDoubt, verdict: 'nothing' };
  if (difference === doubt.explained) return { doubt: { ...doubt, sights: 0 }, verdict: 'nothing' };
  const sights = doubt.sights + 1;
  return { doubt: { ...doubt, sights }, verdict: sights >= doubt.needed ? 'search' : 'wait' };
}

/** Notes what a search has left over; pure. Each search in vain doubles the patience, up to 64 polls. */
export function concludeSearch(doubt: CountDoubt, left: number, fruitful: boolean): CountDoubt {
  if (left === 0) return noDoubt;
  const needed = fruitful ? neededMin : Math.min(doubt.needed * 2, neededMax);
  return { explained: left, sights: 0, needed };
}

/** The doubts of one account, by status; the empty string is the unfiltered list. */
export type CountDoubts = Map<string, CountDoubt>;

/**
 * Weighs one poll's difference in a list and says whether to search now; `atOnce` where a search is cheap.
 * Null, when the service's count is not to be relied on, changes nothing.
 */
export function isSearchDue(
  doubts: CountDoubts,
  status: string,
  difference: number | null,
  atOnce: boolean,
): boolean {
  if (difference === null) return false;
  const { doubt, verdict } = weighDifference(doubts.get(status) ?? noDoubt, difference);
  doubts.set(status, doubt);
  return verdict === 'search' || (verdict === 'wait' && atOnce && doubt.needed === neededMin);
}

/**
 * Notes what a search in a list has left over; `fruitful` when it found something or what is left is
 * accounted for.
 */
export function concludeListSearch(
  doubts: CountDoubts,
  status: string,
  left: number | null,
  fruitful: boolean,
): void {
  if (left !== null) doubts.set(status, concludeSearch(doubts.get(status) ?? noDoubt, left, fruitful));
}

/** Whether a difference is one that an earlier search has left over. */
export function isExplained(doubts: CountDoubts, status: string, difference: number | null): boolean {
  return difference === null || difference === (doubts.get(status) ?? noDoubt).explained;
}
