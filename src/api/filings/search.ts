import { folded } from '../../words/folded.ts';
import type { ListedFiling } from '../../filings/filing-list-store.ts';
import type { FilingDetails } from '../../filings/detection/filing-details.ts';
import type { ServiceAnswer } from '../../polling/service-search.ts';
import type { ApiDeps } from '../deps.ts';
import type { FilingSearch } from './list-choice.ts';

/** Whether the partner service was asked for filings whose details are not kept. */
export interface Searched {
  readonly service: 'asked' | 'not_needed' | 'unavailable';
  /** A sentence for the client; null where there is nothing to add. */
  readonly detail: string | null;
}

/** A page of a list that is chosen by more than a status. */
export interface FoundPage {
  readonly filings: readonly ListedFiling[];
  /** The `after` of the next page; null at the end. */
  readonly next: string | null;
  readonly read: number;
  readonly searched: Searched;
}

type SearchDeps = Pick<ApiDeps, 'filings' | 'searchService'>;

// Milliseconds after which a search ends its page, and another number of filings that it reads at most.
const searchMs = 1_000;
const readMax = 200_000;
// Number of filings that are looked through at the cost of reading one.
const sievedForOne = 10;
// Maximum number of filings that the service is asked for by one search.
const askedMax = 1_000;

/**
 * A page of the filings that were searched for: those whose details are kept in the order of their age, then
 * COMPLETED ones by their id, then those that the service finds. It ends after a second, with fewer filings
 * or none, and says where to go on. Nothing is written.
 */
export async function searchFilings(
  deps: SearchDeps,
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
  if (search.q === null || search.unindexed === null) return page(null, notNeeded(null));
  const byId = idPart(search);
  if (phase !== 's' && byId !== null) {
    if (found.length >= limit) return page('i', notNeeded(later(search)));
    const from = phase === 'i' ? place : null;
    const listed = await deps.filings.findIds(account, byId, search.unindexed, from, limit - found.length);
    const ofId = listed.filings.filter(({ id }) => folded(id).includes(byId));
    found.push(...ofId);
    read += listed.read;
    if (listed.next !== null) return page(`i ${listed.next}`, notNeeded(later(search)));
    if (ofId.some(({ id }) => folded(id) === byId)) return page(null, notNeeded(null));
  }
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
  { filings }: SearchDeps,
  account: string,
  { q, words, state, indexed, order }: FilingSearch,
  after: string | null,
  limit: number,
) {
  return filings.walk(
    indexed.map((status) => ({ account, status })),
    {
      order,
      after,
      limit,
      mayWant: (id, details) => words.mayMatch(id, details),
      wants: ({ id, details }) => isInState(details, state) && (q === null || words.matches(id, details)),
      readMax,
      untilMs: performance.now() + searchMs,
    },
  );
}

async function shownOf(
  { filings }: SearchDeps,
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
    .filter((filing) => isInState(filing.details, search.state));
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
