import { toDetails, type FilingDetails } from '../filings/detection/filing-details.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';
import type { SearchQuery } from '../partner/partner-client.ts';
import type { PartnerPage } from '../partner/filing-schema.ts';
import type { AskService } from './ask-service.ts';

/** A filing that the service has found, with what it says of it now. */
export interface FoundFiling {
  readonly id: string;
  readonly details: FilingDetails | null;
}

/** The service's answer to a search. */
export type ServiceAnswer =
  | {
      readonly kind: 'asked';
      readonly found: readonly FoundFiling[];
      /** The offset of the next page; null at the end. */
      readonly next: number | null;
    }
  /** `detail` is a sentence for the client. */
  | { readonly kind: 'unavailable'; readonly detail: string };

/**
 * Asks the service of an account for the filings that match a text, and writes nothing. Never rejects for it.
 */
export type SearchService = (account: string, query: SearchQuery) => Promise<ServiceAnswer>;

// Milliseconds for which an answer is given again without asking.
const rememberedMs = 15_000;
// Maximum number of answers that are remembered, each of at most a hundred filings.
const rememberedMax = 100;

/** Searches in the turns of `askService`. The same question within 15 seconds is not asked again. */
export function createServiceSearch(askService: AskService): SearchService {
  const remembered = createBoundedMap<string, { readonly answer: ServiceAnswer; readonly at: number }>(
    rememberedMax,
  );

  return async (account, query) => {
    const key = JSON.stringify([account, query]);
    const known = remembered.get(key);
    if (known !== undefined && performance.now() - known.at < rememberedMs) return known.answer;
    const asked = await askService(account, (client, signal) => client.searchFilings(query, signal));
    if (asked.kind === 'unavailable') return asked;
    const answer = toAnswer(query, asked.answer);
    remembered.set(key, { answer, at: performance.now() });
    return answer;
  };
}

function toAnswer({ offset, limit }: SearchQuery, page: PartnerPage): ServiceAnswer {
  const end = offset + page.length;
  const isLast = page.length === 0 || (page.total === null ? page.length < limit : end >= page.total);
  return {
    kind: 'asked',
    found: page.filings.map(({ id, document }) => ({ id, details: toDetails(document()) })),
    next: isLast ? null : end,
  };
}
