import PQueue from 'p-queue';
import type { AccountStore } from '../accounts/account-store.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';
import type { PartnerClient } from '../partner/partner-client.ts';
import { PartnerError, type PartnerErrorKind } from '../partner/partner-error.ts';
import { toUnreadable } from '../redis/unreadable-record.ts';
import type { PartnerConnections } from './partner-connections.ts';

/** The service's answer, or why there is none; `detail` is a sentence for the client. */
export type Answered<T> =
  { readonly kind: 'asked'; readonly answer: T } | { readonly kind: 'unavailable'; readonly detail: string };

/**
 * Asks the service of an account on behalf of a person, and writes nothing. Never rejects for the service.
 */
export type AskService = <T>(
  account: string,
  ask: (client: PartnerClient, signal: AbortSignal) => Promise<T>,
) => Promise<Answered<T>>;

export interface AskServiceDeps {
  readonly accounts: Pick<AccountStore, 'getKeyed'>;
  readonly partners: PartnerConnections;
}

// Milliseconds that an answer may take, the wait for its turn included.
const deadlineMs = 4_000;
// Milliseconds between the beginnings of two turns of an account, in this process.
const spacingMs = 1_000;
// Maximum number of persons of an account that wait for their turn.
const waitingMax = 3;
// Maximum number of accounts whose turns are remembered.
const accountsMax = 10_000;

/**
 * Asks over the clients that polls use, so the request budget counts it; in a process that does not poll, it
 * has a budget of its own. One person at a time and at most one a second of each account, so polls keep all
 * but that share.
 */
export function createAskService({ accounts, partners }: AskServiceDeps): AskService {
  const turns = createBoundedMap<string, PQueue>(accountsMax);

  function inTurn<T>(account: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const own =
      turns.get(account) ?? new PQueue({ concurrency: 1, interval: spacingMs, intervalCap: 1, strict: true });
    turns.set(account, own);
    if (own.size + own.pending >= waitingMax) throw new BusyError();
    return own.add(work, { signal });
  }

  return async (account, ask) => {
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      const keyed = await accounts.getKeyed(account);
      if (keyed === null) return unavailable('The account is gone.');
      const { client } = partners.of(keyed);
      return { kind: 'asked', answer: await inTurn(account, signal, () => ask(client, signal)) };
    } catch (error) {
      if (error instanceof BusyError || signal.aborted) return unavailable(slow);
      if (error instanceof PartnerError) return unavailable(sentences[error.kind]);
      if (toUnreadable(error) === null && !isSealError(error)) throw error;
      return unavailable("The account's key cannot be read.");
    }
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
  unexpected_status: 'The service does not answer this question.',
  aborted: slow,
};

function unavailable(detail: string): { readonly kind: 'unavailable'; readonly detail: string } {
  return { kind: 'unavailable', detail };
}
