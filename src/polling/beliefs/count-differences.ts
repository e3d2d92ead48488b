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

/** The differences of one account, by status; the empty string is the unfiltered list. */
export type CountDifferences = Map<string, CountDifference>;

// A single poll may have seen a change between two of its requests.
const neededMin = 2;
const neededMax = 64;

const noDifference: CountDifference = { explained: 0, polls: 0, needed: neededMin };

/**
 * Whether to search a list now for the difference that one poll found, the service's count less ours;
 * `atOnce` if a search is cheap. A null difference (the service's count is not reliable) changes nothing.
 */
export function isSearchDue(
  differences: CountDifferences,
  status: string,
  difference: number | null,
  atOnce: boolean,
): boolean {
  if (difference === null) return false;
  const memory = difference === 0 ? noDifference : (differences.get(status) ?? noDifference);
  const isNews = difference !== memory.explained;
  const polls = isNews ? memory.polls + 1 : 0;
  differences.set(status, { ...memory, polls });
  return isNews && (polls >= memory.needed || (atOnce && memory.needed === neededMin));
}

/**
 * Remembers the difference that remains after a search of a list. `fruitful` is true when the search found
 * something or the rest is accounted for. Each search in vain doubles the number of polls before the next
 * one, up to 64.
 */
export function concludeListSearch(
  differences: CountDifferences,
  status: string,
  left: number | null,
  fruitful: boolean,
): void {
  if (left === null) return;
  const { needed } = differences.get(status) ?? noDifference;
  const next = fruitful || left === 0 ? neededMin : Math.min(needed * 2, neededMax);
  differences.set(status, { explained: left, polls: 0, needed: next });
}

/** Whether a difference is the one that remained after an earlier search. */
export function isExplained(
  differences: CountDifferences,
  status: string,
  difference: number | null,
): boolean {
  return difference === null || difference === (differences.get(status) ?? noDifference).explained;
}
