import { meaningOf, PartnerError } from './partner-error.ts';
import type { PartnerClient } from './partner-client.ts';
import type { RequestBudget } from './request-budget.ts';
import { refusalWaitMs } from './repeat-request.ts';

export interface PatientClientDeps {
  readonly client: PartnerClient;
  readonly budget: Pick<RequestBudget, 'rest' | 'pace'>;
  readonly random: () => number;
  /**
   * Called at the beginning of each wait, with the refusal and the milliseconds. The request is not repeated
   * before it resolves.
   */
  readonly onRest: (refusal: PartnerError, waitMs: number) => Promise<void>;
}

/**
 * An account's client for one poll. A request that the service refuses (429) is sent again after a wait,
 * during which the account sends no request, so a list goes on where it was refused. When the waits would get
 * too long (`refusalWaitMs`), this and all later refusals of the poll reject as those of the client do. A
 * wait ends at once when the signal aborts.
 */
export function createPatientClient({ client, budget, random, onRest }: PatientClientDeps): PartnerClient {
  const startedAt = performance.now();
  let waitsUntil = startedAt;
  let waitedMs = 0;
  let isOver = false;

  async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof PartnerError) || meaningOf(error).repeat !== 'after_wait') throw error;
        const waitMs = isOver ? null : rest(error);
        isOver = waitMs === null;
        if (waitMs === null) throw error;
        await onRest(error, waitMs);
      }
    }
  }

  // The milliseconds of the rest; null where the poll is to end instead.
  function rest(refusal: PartnerError): number | null {
    const now = performance.now();
    const { refusedInARow } = budget.pace();
    const readingMs = now - startedAt - waitedMs;
    const waitMs = refusalWaitMs(refusal, { refusedInARow, waitedMs, readingMs }, random);
    if (waitMs === null) return null;
    budget.rest(waitMs);
    // Requests that were refused together wait together.
    const until = Math.max(waitsUntil, now + waitMs);
    waitedMs += until - Math.max(waitsUntil, now);
    waitsUntil = until;
    return waitMs;
  }

  return {
    listFilings: (query, signal) => patiently(() => client.listFilings(query, signal)),
    // People wait for it.
    searchFilings: client.searchFilings,
    countFilings: (signal) => patiently(() => client.countFilings(signal)),
    getFiling: (id, signal) => patiently(() => client.getFiling(id, signal)),
    checkAccount: (signal) => patiently(() => client.checkAccount(signal)),
  };
}
