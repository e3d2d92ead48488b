import type { PartnerClient } from '../../partner/partner-client.ts';
import { consequence, isRefusal, PartnerError } from '../../partner/partner-error.ts';

/**
 * The lists by status that the service refuses to serve, each with its answer and the time of the answer.
 * They are kept in memory; losing them costs a request.
 */
export type RefusedLists = Map<string, { readonly refusal: PartnerError; readonly at: number }>;

export interface RefusedListsDeps {
  readonly client: Pick<PartnerClient, 'listFilings'>;
  readonly refused: RefusedLists;
  readonly now: () => number;
  /** Milliseconds for which a refused list is not requested again. */
  readonly forMs: number;
}

/**
 * Lists filings as the client does; a list that was refused rejects at once with the same refusal until its
 * time is over.
 */
export function createListing({ client, refused, now, forMs }: RefusedListsDeps): {
  readonly listFilings: PartnerClient['listFilings'];
  readonly isRefused: (status: string) => boolean;
} {
  function refusalOf(status: string): PartnerError | null {
    const { refusal, at } = refused.get(status) ?? { refusal: null, at: 0 };
    // A time in the future was written by a clock that was wrong.
    return now() >= at && now() - at < forMs ? refusal : null;
  }

  return {
    isRefused: (status) => refusalOf(status) !== null,
    async listFilings(query, signal) {
      const { status } = query;
      if (status === undefined) return client.listFilings(query, signal);
      const known = refusalOf(status);
      if (known !== null) throw known;
      try {
        const listed = await client.listFilings(query, signal);
        refused.delete(status);
        return listed;
      } catch (error) {
        // A later page may be refused for its offset.
        if (query.offset === 0 && isRefusal(error)) refused.set(status, { refusal: error, at: now() });
        throw error;
      }
    },
  };
}

/** The result of reading a list; null when the service refuses to serve it. */
export async function unlessRefused<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/** The result of a read that the poll can do without; null when the service fails or refuses it. */
export async function unlessFailed<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof PartnerError && consequence(error, 'list') === 'left_out') return null;
    throw error;
  }
}
