import type { Static } from 'typebox';
import { dueRulesOf, isNotedAs, notedFilter, type NotedFilter } from './choices.ts';
import { groupsOfStatus } from '../../filings/detection/age-rank.ts';
import type { FilingDetails } from '../../filings/detection/filing-details.ts';
import type { FilingPage, ListedFiling } from '../../filings/lists/filing-list-store.ts';
import { agedSources, dueSources } from '../../filings/lists/walk-sources.ts';
import { searchWords, type SearchWords } from '../../filings/lists/search-words.ts';
import { isIndexed, knownStatuses } from '../../partner/filing-statuses.ts';
import type { ServiceAnswer } from '../../polling/service-search.ts';
import { folded } from '../../words/folded.ts';
import type { ApiDeps } from '../deps.ts';
import { listCompletions } from './completions.ts';
import type { filingListSchema, filingsQuerySchema } from './filings.ts';
import type { CursorKind } from '../shared/paging.ts';
import { invalidValue } from '../shared/problem.ts';
import { statusProblem } from '../shared/statuses.ts';

/** The filters of a request for a list of filings. */
export type ListQuery = Pick<
  Static<typeof filingsQuerySchema>,
  'q' | 'state' | 'status' | 'order' | 'seen' | 'assignee'
>;

/** Whether each filing of a list has to be looked at; pure. */
export function isFiltered(query: ListQuery): boolean {
  return query.q !== undefined || filterIn(query) !== undefined;
}

// A filter that has to look at each filing, besides the words of a search.
function filterIn(query: ListQuery) {
  return (['state', 'assignee', 'seen'] as const).find((name) => query[name] !== undefined);
}

/** A list in the order of age, which is chosen by statuses, words or a state. */
interface FilingSearch {
  readonly kind: 'search';
  /** The text as it was typed; null if there is no search. */
  readonly q: string | null;
  readonly words: SearchWords;
  /** Folded; null = any. */
  readonly state: string | null;
  readonly noted: NotedFilter;
  /** The statuses whose filings are in an index. */
  readonly indexed: readonly string[];
  /**
   * The status without an index, listed last; in a search the service is asked for it. Null if it is not
   * wanted.
   */
  readonly unindexed: string | null;
  readonly order: NonNullable<ListQuery['order']>;
}

/**
 * The list that a request asks for. `plain` has all filings, or those of a status without an index,
 * `completions` see `listCompletions`.
 */
export type ListChoice =
  | { readonly kind: 'plain'; readonly status: string | null }
  | { readonly kind: 'completions' }
  | FilingSearch;

/**
 * The list that a query asks for; pure. `shown` are the statuses that the account has ever had. Throws the
 * problem 422 for an unknown status, or if filter, order and status do not go together.
 */
export function chooseList(query: ListQuery, shown: readonly string[]): ListChoice {
  const { q, state, order } = query;
  const statuses = query.status === undefined ? null : toStatuses(query.status, shown);
  const [only = null, ...others] = statuses ?? [];
  const filter = filterIn(query);
  const isPlain = only === null || (others.length === 0 && !isIndexed(only));
  if (isPlain && !isFiltered(query)) {
    if (order === undefined) return { kind: 'plain', status: only };
    if (only !== null && order !== 'newest')
      throw invalidValue('order', `${order} does not go with ${only} alone, of which the age is not kept`);
    if (only !== null) return { kind: 'completions' };
  }
  const wanted = statuses ?? [...new Set([...knownStatuses, ...shown])];
  const unindexed = wanted.find((status) => !isIndexed(status)) ?? null;
  const isLeftOut = q === undefined && filter !== undefined;
  if (isLeftOut && unindexed !== null && statuses !== null)
    throw invalidValue(
      filter,
      `${filter === 'state' ? 'is not known of' : 'does not select among'} ${unindexed} filings: add q, or leave ${unindexed} out`,
    );
  return {
    kind: 'search',
    q: q ?? null,
    words: searchWords(q ?? ''),
    state: state === undefined ? null : folded(state),
    noted: notedFilter(query),
    indexed: wanted.filter(isIndexed),
    unindexed: isLeftOut ? null : unindexed,
    order: order ?? 'newest',
  };
}

/** The kind of cursor of a list: that of another list does not fit; pure. */
export function cursorKindOf(choice: ListChoice): CursorKind {
  if (choice.kind === 'plain') return `filings:${choice.status ?? ''}`;
  if (choice.kind === 'completions') return choice.kind;
  const { words, state, noted, indexed, unindexed, order } = choice;
  return `found-filings:${JSON.stringify([words.words, state, noted, indexed, unindexed, order])}`;
}

/** Whether the partner service was asked for filings whose details are not kept. */
type Searched = NonNullable<Static<typeof filingListSchema>['searched']>;

/** A page of a list; `searched` is missing if there is no search. */
interface FoundPage extends FilingPage {
  readonly searched?: Searched;
}

// Milliseconds after which a search ends its page, and another number of filings that it reads at most.
const searchMs = 1_000;
const readMax = 200_000;
// Number of filings that are looked through at the cost of reading one.
const sievedForOne = 10;
// Maximum number of filings that the service is asked for by one search.
const askedMax = 1_000;

/** A page of a list; nothing is written. */
export async function listPage(
  deps: ApiDeps,
  account: string,
  choice: ListChoice,
  after: string | null,
  limit: number,
): Promise<FoundPage> {
  if (choice.kind === 'search') return searchFilings(deps, account, choice, after, limit);
  if (choice.kind === 'completions') return listCompletions(deps, account, after, limit);
  return deps.filings.scan(account, { status: choice.status, after, limit });
}

/**
 * A page of the filings that were searched for: those with kept details in the order of their age, then
 * COMPLETED ones by id (without a text all of them), then those that the service finds. It ends after a
 * second, possibly with fewer filings or none, and has a cursor to continue from.
 */
async function searchFilings(
  deps: ApiDeps,
  account: string,
  search: FilingSearch,
  after: string | null,
  limit: number,
): Promise<FoundPage> {
  const [phase, place] = splitPlace(after);
  const found: ListedFiling[] = [];
  let read = 0;
  const page = (next: string | null, searched: Searched): FoundPage => {
    return { filings: found, next, read, searched };
  };

  if (phase === 'k') {
    const walked = await walkKept(deps, account, search, place, limit);
    found.push(...walked.filings);
    read += walked.read / (search.q === null ? 1 : sievedForOne);
    if (walked.next !== null) return page(`k ${walked.next}`, notNeeded(later(search)));
  }
  if (search.unindexed === null) return page(null, notNeeded(null));
  const byId = search.q === null ? '' : idPart(search);
  if (phase !== 's' && byId !== null) {
    if (found.length >= limit) return page('i', notNeeded(later(search)));
    const from = { after: phase === 'i' ? place : null, limit: limit - found.length };
    const listed = await deps.filings.scan(account, { status: search.unindexed, part: byId, ...from });
    const ofId = listed.filings.filter(({ id }) => folded(id).includes(byId));
    found.push(...ofId.filter((filing) => isNotedAs(filing, search.noted)));
    read += listed.read;
    if (listed.next !== null) return page(`i ${listed.next}`, notNeeded(later(search)));
    if (ofId.some(({ id }) => folded(id) === byId)) return page(null, notNeeded(null));
  }
  if (search.q === null) return page(null, notNeeded(null));
  const offset = phase === 's' ? Number(place) : 0;
  if (found.length >= limit) return page(`s ${offset}`, notNeeded(later(search)));
  const query = {
    q: search.q.trim().normalize(),
    status: search.unindexed,
    offset,
    limit: limit - found.length,
  };
  const answer = await deps.searchService(account, query);
  if (answer.kind === 'unavailable') return page(null, { service: 'unavailable', detail: answer.detail });
  const { filings, unseen } = await shownOf(deps, account, search, answer);
  found.push(...filings);
  read += answer.found.length;
  const next = answer.next === null || answer.next >= askedMax ? null : `s ${answer.next}`;
  return page(next, { service: 'asked', detail: askedDetail(unseen, next === null && answer.next !== null) });
}

async function walkKept(
  deps: ApiDeps,
  account: string,
  { q, words, state, noted, indexed, order }: FilingSearch,
  after: string | null,
  limit: number,
) {
  const groups = indexed.flatMap(groupsOfStatus);
  const byDue = async () =>
    dueSources(account, (await dueRulesOf(deps, [account])).get(account) ?? null, groups);
  return deps.filings.walk(order === 'due' ? await byDue() : agedSources(account, groups), {
    order: order === 'due' ? 'oldest' : order,
    after,
    limit,
    mayWant: (id, details) => words.mayMatch(id, details),
    wants: (filing) =>
      isInState(filing.details, state) &&
      isNotedAs(filing, noted) &&
      (q === null || words.matches(filing.id, filing.details)),
    readMax,
    untilMs: performance.now() + searchMs,
  });
}

async function shownOf(
  { filings }: ApiDeps,
  account: string,
  search: FilingSearch,
  { found }: Extract<ServiceAnswer, { kind: 'asked' }>,
) {
  const details = new Map(found.map(({ id, details: said }) => [id, said]));
  const known = await filings.getAll(account, [...details.keys()]);
  const byId = idPart(search);
  const shown = known
    .filter(({ state }) => state.status === search.unindexed && !state.removed)
    // Those were found by their ids before.
    .filter(({ id }) => byId === null || !folded(id).includes(byId))
    .map((filing) => ({ ...filing, details: filing.details ?? details.get(filing.id) ?? null }))
    .filter((filing) => isInState(filing.details, search.state) && isNotedAs(filing, search.noted));
  return { filings: shown, unseen: details.size - known.length };
}

// The id of a filing is one word, and says nothing of its state.
function idPart({ words: { words }, state }: FilingSearch): string | null {
  const [word] = words;
  return words.length === 1 && word !== undefined && state === null ? word : null;
}

function isInState(details: FilingDetails | null, state: string | null): boolean {
  return state === null || folded(details?.stateAbbr ?? '') === state;
}

// `k` = kept details, `i` = ids, `s` = the service; each with a place of its own.
function splitPlace(after: string | null): readonly [phase: string, place: string | null] {
  if (after === null) return ['k', null];
  return [after.slice(0, 1), after.length < 2 ? null : after.slice(2)];
}

function notNeeded(detail: string | null): Searched {
  return { service: 'not_needed', detail };
}

function later({ q, unindexed }: FilingSearch): string | null {
  return q === null || unindexed === null ? null : `${unindexed} filings follow on a later page.`;
}

function askedDetail(unseen: number, isCut: boolean): string | null {
  const sentences = [
    ...(unseen > 0 ? [`${unseen} of the filings that it found were seen by no poll yet.`] : []),
    ...(isCut ? [`It found more than ${askedMax}: search for more words.`] : []),
  ];
  return sentences.length === 0 ? null : sentences.join(' ');
}

/**
 * The statuses in a text, separated by commas and in any case. A status that contains a comma is found only
 * if it is the whole text.
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
    if (problem !== null) throw invalidValue('status', problem);
  }
  return [...new Set(words.flatMap((word) => find(word) ?? []))];
}
