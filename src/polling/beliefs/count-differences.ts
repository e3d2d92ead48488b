/**
 * What the polls of an account remember of a difference between the service's count of a list and ours. A
 * difference may be a change between two requests, a filing to be found, or permanent (a record that cannot
 * be read, a service that counts wrongly). Kept in memory; losing it costs one needless search.
 */
export interface CountDifference {
  /** The difference that a search has left over: it means nothing any more. */
  readonly explained: number;
  /** Number of polls in a row that met another difference. */
  readonly polls: number;
  /** Number of such polls that lead to a search. */
  readonly needed: number;
}

// A single poll may have met a change between two of its requests.
const neededMin = 2;
const neededMax = 64;

/** Nothing met so far. */
export const noDifference: CountDifference = { explained: 0, polls: 0, needed: neededMin };

/** What a poll does about a difference. */
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

/** Remembers what a search has left over. Each search in vain doubles the patience, up to 64 polls. */
export function concludeSearch(memory: CountDifference, left: number, fruitful: boolean): CountDifference {
  if (left === 0) return noDifference;
  const needed = fruitful ? neededMin : Math.min(memory.needed * 2, neededMax);
  return { explained: left, polls: 0, needed };
}

/** The differences of one account, by status; the empty string is the unfiltered list. */
export type CountDifferences = Map<string, CountDifference>;

/**
 * Whether to search for one poll's difference in a list now; `atOnce` where a search is cheap. Null, when the
 * service's count is not reliable, changes nothing.
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
 * Remembers what a search in a list has left over; `fruitful` when it found something or the rest is
 * accounted for.
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

/** Whether a difference is one that an earlier search has left over. */
export function isExplained(
  differences: CountDifferences,
  status: string,
  difference: number | null,
): boolean {
  return difference === null || difference === (differences.get(status) ?? noDifference).explained;
}
