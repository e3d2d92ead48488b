import { Type, type Static } from 'typebox';
import type { ListFaults } from '../faults.ts';
import { filingStatuses, type Filing } from './filing.ts';
import type { FilingView } from './filing-store.ts';
import { sampleIndexes, shuffled, type Random } from '../random.ts';

const wholeNumber = '^\\d{1,15}$';
const pageLength = '^([1-9]\\d?|100)$';

/** The message for a query parameter that does not match one of the patterns. */
export const queryMeanings: readonly (readonly [pattern: string, meaning: string])[] = [
  [wholeNumber, 'must be a whole number from 0 on'],
  [pageLength, 'must be a whole number from 1 to 100'],
];

const page = {
  offset: Type.Optional(Type.String({ pattern: wholeNumber })),
  limit: Type.Optional(Type.String({ pattern: pageLength })),
  q: Type.Optional(Type.String()),
};

/** The query of `GET /partner/filings`; an unknown parameter is ignored. */
export const ListQuery = Type.Object({ ...page, status: Type.Optional(Type.Enum(filingStatuses)) });

/** The query of `GET /_sandbox/filings`: any status, and the filings of all owners or of one. */
export const ControlListQuery = Type.Object({
  ...page,
  status: Type.Optional(Type.String()),
  owner: Type.Optional(Type.String()),
});

/** The body of `GET /partner/filings`. */
export interface ListBody {
  readonly items: readonly Filing[];
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
}

/** One page of a view, distorted by the faults; without faults exactly the requested page. */
export function listPage(
  view: FilingView,
  asked: Pick<Static<typeof ListQuery>, 'offset' | 'limit'>,
  { limitMax, shuffle }: ListFaults,
  random: Random,
): ListBody {
  const offset = Number(asked.offset ?? 0);
  const limit = Math.min(Number(asked.limit ?? 20), limitMax ?? Infinity);
  const straight = view.slice(offset, limit);
  const items =
    shuffle === 'list'
      ? sampleIndexes(random, view.size, straight.length).flatMap((index) => view.at(index) ?? [])
      : shuffle === 'page'
        ? shuffled(random, straight)
        : straight;
  return { items, total: view.size, offset, limit };
}
