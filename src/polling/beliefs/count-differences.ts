/**
 * A difference between the service's count of a list and ours, as the polls of an account remember it. A
 * difference may be a change between two requests, a filing to be found, or permanent (a record that cannot
 * be read, a service that counts wrongly). It is kept in memory; losing it costs one needless search.
 */
export interface CountDifference {
  /** The difference that remained after a search; it no longer has a meaning. */
  readonly explained: number;
  /** Number of polls in a row that found another difference. */
  readonly polls: number;
  /** Number of such polls that lead to a search. */
  readonly needed: number;
}

// A single poll may have seen a change between two of its requests.
const neededMin = 2;
const neededMax = 64;

/** No difference found so far. */
export const noDifference: CountDifference = { explained: 0, polls: 0, needed: neededMin };

/** The action of a poll on a difference. */
export type DifferenceVerdict = 'nothing' | 'wait' | 'search';

/** Judges one poll's difference: the service's count less ours. */
export function weighDifference(
  memory: CountDifference,
  difference: number,
): { readonly memory: CountDifference; readonly verdict: DifferenceVerdict } {
  if (difference === 0) return { memory: noDifference, verdict: 'nothing' };
  if (difference === memory.explained) return { memory: { ...memory, polls: 0 }, verdict: 'nothing' };
  const polls = memory.polls + 1;
  return { memory: { ...memory, polls }, verdict: polls >= memory.needed ? 'search' : 'wait' };
}

/**
 * Remembers the difference that remains after a search. Each search in vain doubles the number of polls
 * before the next one, up to 64.
 */
export function concludeSearch(memory: CountDifference, left: number, fruitful: boolean): CountDifference {
  if (left === 0) return noDifference;
  const needed = fruitful ? neededMin : Math.min(memory.needed * 2, neededMax);
  return { explained: left, polls: 0, needed };
}

/** The differences of one account, by status; the empty string is the unfiltered list. */
export type CountDifferences = Map<string, CountDifference>;

/**
 * Whether to search a list now for the difference that one poll found; `atOnce` where a search is cheap. A
 * null difference (the service's count is not reliable) changes nothing.
 */
export function isSearchDue(
  differences: CountDifferences,
  status: string,
  difference: number | null,
  atOnce: boolean,
): boolean {
  if (difference === null) return false;
  const { memory, verdict } = weighDifference(differences.get(status) ?? noDifference, difference);
  differences.set(status, memory);
  return verdict === 'search' || (verdict === 'wait' && atOnce && memory.needed === neededMin);
}

/**
 * Remembers the difference that remains after a search of a list. `fruitful` is true when the search found
 * something or the rest is accounted for.
 */
export function concludeListSearch(
  differences: CountDifferences,
  status: string,
  left: number | null,
  fruitful: boolean,
): void {
  if (left !== null)
    differences.set(status, concludeSearch(differences.get(status) ?? noDifference, left, fruitful));
}

/** Whether a difference is the one that remained after an earlier search. */
export function isExplained(
  differences: CountDifferences,
  status: string,
  difference: number | null,
): boolean {
  return difference === null || difference === (differences.get(status) ?? noDifference).explained;
}
