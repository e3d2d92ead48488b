import PQueue from 'p-queue';
import type { AccountStore } from '../accounts/account-store.ts';
import { toDetails, type FilingDetails } from '../filings/detection/filing-details.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';
import type { SearchQuery } from '../partner/partner-client.ts';
import { PartnerError, type PartnerErrorKind } from '../partner/partner-error.ts';
import type { PartnerPage } from '../partner/filing-schema.ts';
import { toUnreadable } from '../redis/unreadable-record.ts';
import type { PartnerConnections } from './partner-connections.ts';

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

export interface ServiceSearchDeps {
  readonly accounts: Pick<AccountStore, 'getKeyed'>;
  readonly partners: PartnerConnections;
}

// Milliseconds that a search may take, the wait for its turn included.
const deadlineMs = 4_000;
// Milliseconds between the beginnings of two searches of an account, in this process.
const spacingMs = 1_000;
// Maximum number of searches of an account that wait for their turn.
const waitingMax = 3;
// Milliseconds for which an answer is given again without asking.
const rememberedMs = 15_000;
// Maximum number of answers that are remembered, each of at most a hundred filings.
const rememberedMax = 100;
// Maximum number of accounts whose turns are remembered.
const accountsMax = 10_000;

/**
 * Searches over the clients that polls use, so the request budget counts them; in a process that does not
 * poll, they have a budget of their own. One at a time and at most one a second of each account, so polls
 * keep all but that share. The same question within 15 seconds is not asked again.
 */
export function createServiceSearch({ accounts, partners }: ServiceSearchDeps): SearchService {
  const turns = createBoundedMap<string, PQueue>(accountsMax);
  const remembered = createBoundedMap<string, { readonly answer: ServiceAnswer; readonly at: number }>(
    rememberedMax,
  );

  function inTurn<T>(account: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const own =
      turns.get(account) ?? new PQueue({ concurrency: 1, interval: spacingMs, intervalCap: 1, strict: true });
    turns.set(account, own);
    if (own.size + own.pending >= waitingMax) throw new BusyError();
    return own.add(work, { signal });
  }

  async function ask(account: string, query: SearchQuery): Promise<ServiceAnswer> {
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      const keyed = await accounts.getKeyed(account);
      if (keyed === null) return unavailable('The account is gone.');
      const { client } = partners.of(keyed);
      return toAnswer(query, await inTurn(account, signal, () => client.searchFilings(query, signal)));
    } catch (error) {
      if (error instanceof BusyError || signal.aborted) return unavailable(slow);
      if (error instanceof PartnerError) return unavailable(sentences[error.kind]);
      if (toUnreadable(error) === null && !isSealError(error)) throw error;
      return unavailable("The account's key cannot be read.");
    }
  }

  return async (account, query) => {
    const key = JSON.stringify([account, query]);
    const known = remembered.get(key);
    if (known !== undefined && performance.now() - known.at < rememberedMs) return known.answer;
    const answer = await ask(account, query);
    if (answer.kind === 'asked') remembered.set(key, { answer, at: performance.now() });
    return answer;
  };
}

class BusyError extends Error {}

/** Whether the account's key is sealed in a way that this process cannot open. */
export function isSealError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'SealError';
}

const slow = 'The service took too long, or other requests to it were first; try again in a few seconds.';

const sentences: Readonly<Record<PartnerErrorKind, string>> = {
  auth: "The service refuses the account's key.",
  rate_limited: 'The service refuses more requests for now; try again later.',
  unavailable: 'The service fails at present; try again later.',
  timeout: slow,
  network: 'The service cannot be reached.',
  proxy: 'The service cannot be reached: the forward proxy makes no connection.',
  invalid_response: "The service's answer cannot be read.",
  unexpected_status: 'The service does not search.',
  aborted: slow,
};

function unavailable(detail: string): ServiceAnswer {
  return { kind: 'unavailable', detail };
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
