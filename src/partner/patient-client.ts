import { jitter } from '../waiting/jitter.ts';
import { meaningOf, PartnerError } from './partner-error.ts';
import type { PartnerClient } from './partner-client.ts';
import type { RequestBudget } from './request-budget.ts';

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
 * during which the account sends no request, so a list resumes at the refused page. If the waits would get
 * too long (`refusalWaitMs`), this and all later refusals of the poll reject as with the plain client. A wait
 * ends immediately when the signal aborts.
 */
export function createPatientClient({
  client,
  budget,
  random,
  onRest,
}: PatientClientDeps): Omit<PartnerClient, 'counting'> {
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

  // Milliseconds to rest, or null if the poll should end instead.
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
    // People wait for these.
    searchFilings: client.searchFilings,
    filingStates: client.filingStates,
    countFilings: (signal) => patiently(() => client.countFilings(signal)),
    getFiling: (id, signal) => patiently(() => client.getFiling(id, signal)),
    checkAccount: (signal) => patiently(() => client.checkAccount(signal)),
  };
}

const waitMsMin = 1_000;
const waitMsMax = 60_000;
const waitsMsMax = 5 * 60_000;
const waitsInVainMax = 6;
const waitSpread = { more: 0.1 };

/** How long a poll has waited so far because the service refused requests (429). */
export interface WaitsSoFar {
  /** Refusals since the service last accepted a request, this one included. */
  readonly refusedInARow: number;
  readonly waitedMs: number;
  /** Milliseconds of the poll beside these. */
  readonly readingMs: number;
}

/**
 * Milliseconds without a request after a refusal before the poll goes on, null when it ends instead; pure. A
 * second, doubled with each refusal in a row, or `Retry-After` if that is longer, and up to a tenth more. The
 * poll ends after six waits without success, before a wait of over a minute, and when all its waits would
 * take more than five minutes and more than its reads.
 */
export function refusalWaitMs(
  { retryAfterMs }: PartnerError,
  { refusedInARow, waitedMs, readingMs }: WaitsSoFar,
  random: () => number,
): number | null {
  if (refusedInARow > waitsInVainMax) return null;
  const floorMs = Math.max(retryAfterMs ?? 0, waitMsMin * 2 ** Math.max(0, refusedInARow - 1));
  const waitMs = jitter(floorMs, waitSpread, random);
  const tooLong = floorMs > waitMsMax || waitedMs + waitMs > Math.max(waitsMsMax, readingMs);
  return tooLong ? null : waitMs;
}
