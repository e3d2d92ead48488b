import { pageSize, type PartnerPage } from '../../partner/filing-schema.ts';
import type { ListQuery, PageAnswer, PartnerClient } from '../../partner/partner-client.ts';
import { consequence, PartnerError } from '../../partner/partner-error.ts';

/** A page, or why it cannot be read: the scan decides what that means for the list. */
export type Answer = PageAnswer | PartnerError;

/** The requests of one scan. They reject with PartnerError when a failure is about the whole account. */
export type ListRequests = ReturnType<typeof createListRequests>;

/** Requests for the list of a status, or for the whole one. */
export function createListRequests(
  listing: Pick<PartnerClient, 'listFilings'>,
  list: Pick<ListQuery, 'status' | 'isSweep'>,
  signal: AbortSignal,
) {
  let parts = 0;

  async function ask(query: ListQuery): Promise<Answer> {
    try {
      return await listing.listFilings({ ...list, ...query }, signal);
    } catch (error) {
      if (error instanceof PartnerError && consequence(error, 'list') === 'left_out') return error;
      throw error;
    }
  }

  function part(offset: number, limit: number): Promise<Answer> {
    parts += 1;
    return ask({ offset, limit, once: true });
  }

  return {
    page: (offset: number): Promise<Answer> => ask({ offset, limit: pageSize }),
    /** A part of a page that could not be read, requested once. */
    part,
    /** Asks once for a page of one record, which is not kept. */
    async look(offset: number): Promise<PartnerPage | PartnerError> {
      const answer = await part(offset, 1);
      discard(answer);
      return answer instanceof PartnerError ? answer : answer.page;
    },
    /** Number of parts and looks so far. */
    parts: (): number => parts,
  };
}

/** Gives back the room of an answer that is of no use. */
export function discard(answer: Answer): void {
  if (!(answer instanceof PartnerError)) answer.release();
}
