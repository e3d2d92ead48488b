import { isIndexed, knownStatuses } from '../../partner/filing-statuses.ts';
import { searchWords, type SearchWords } from '../../filings/lists/search-words.ts';
import type { AgeOrder } from '../../filings/lists/ordered-place.ts';
import { folded } from '../../words/folded.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import type { CursorKind } from '../shared/cursor.ts';
import { invalidRequest } from '../shared/problem.ts';
import { statusProblem } from '../shared/statuses.ts';

/** The filters of a request for a list of filings. */
export interface ListQuery {
  readonly q?: string | undefined;
  readonly state?: string | undefined;
  readonly status?: string | undefined;
  readonly order?: 'id' | AgeOrder | undefined;
}

/** A list that is chosen by more than a status. */
export interface FilingSearch {
  readonly kind: 'search';
  /** As it was typed; null where nothing is searched for. */
  readonly q: string | null;
  readonly words: SearchWords;
  /** Folded; null = any. */
  readonly state: string | null;
  /** Those statuses whose filings stand in an index. */
  readonly indexed: readonly string[];
  /** The status whose filings the service has to be asked for; null where it is not wanted. */
  readonly unindexed: string | null;
  readonly order: AgeOrder;
}

/** The list that a request asks for. */
export type ListChoice =
  | { readonly kind: 'plain'; readonly status: string | null }
  | { readonly kind: 'newest'; readonly status: string }
  | FilingSearch;

/**
 * The list that a query asks for; pure. `shown` are the statuses that the account has ever had. Throws the
 * problem 422 for a status that is none of these, and where filter, order and status do not go together.
 */
export function chooseList(query: ListQuery, shown: readonly string[]): ListChoice {
  const { q, state, order } = query;
  const statuses = query.status === undefined ? null : toStatuses(query.status, shown);
  const [only] = statuses ?? [];
  const isSearch = q !== undefined || state !== undefined;
  if (!isSearch && (order === undefined || order === 'id') && (statuses?.length ?? 0) < 2)
    return { kind: 'plain', status: only ?? null };
  if (order === 'id')
    throw invalid('order', 'id goes with at most one status, and without q and state: leave it out');
  const wanted = statuses ?? [...new Set([...knownStatuses, ...shown])];
  const indexed = wanted.filter(isIndexed);
  const unindexed = wanted.find((status) => !isIndexed(status)) ?? null;
  if (q === undefined && unindexed !== null && (statuses !== null || state === undefined))
    throw state === undefined
      ? invalid(order === undefined ? 'status' : 'order', sortedOnly(order))
      : invalid('state', `is not known of ${unindexed} filings: add q, or leave ${unindexed} out`);
  if (!isSearch && order === 'newest' && indexed.length === 1 && only !== undefined)
    return { kind: 'newest', status: only };
  return {
    kind: 'search',
    q: q ?? null,
    words: searchWords(q ?? ''),
    state: state === undefined ? null : folded(state),
    indexed,
    unindexed: q === undefined ? null : unindexed,
    order: order ?? 'newest',
  };
}

/** The kind of cursor of a list: that of another list does not fit. */
export function cursorKindOf(choice: ListChoice): CursorKind {
  switch (choice.kind) {
    case 'plain':
      return `filings:${choice.status ?? ''}`;
    case 'newest':
      return `newest-filings:${choice.status}`;
    case 'search': {
      const { words, state, indexed, unindexed, order } = choice;
      return `found-filings:${JSON.stringify([words.words, state, indexed, unindexed, order])}`;
    }
  }
}

/**
 * The statuses in a text, with commas between and in any case. A status that contains a comma is found where
 * it is the whole text.
 */
function toStatuses(text: string, shown: readonly string[]): readonly string[] {
  const known = [...new Set([...knownStatuses, ...shown])];
  const find = (word: string) =>
    known.find((status) => status === word) ??
    known.find((status) => status.toLowerCase() === word.toLowerCase());
  const whole = find(text);
  if (whole !== undefined) return [whole];
  const words = text.split(',').map((word) => word.trim());
  for (const word of words) {
    const problem = find(word) === undefined ? statusProblem(word, shown) : null;
    if (problem !== null) throw invalid('status', problem);
  }
  return [...new Set(words.flatMap((word) => find(word) ?? []))];
}

function sortedOnly(order: string | undefined): string {
  return order === undefined
    ? 'COMPLETED goes with no other status: ask for it alone, or add q'
    : `${order} goes with a status other than COMPLETED, or with q or state`;
}

function invalid(path: string, message: string) {
  return invalidRequest([{ path, message } satisfies FieldError]);
}
