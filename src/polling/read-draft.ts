import { draftOf, type Draft } from '../filings/draft.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';
import type { FilingStateRules } from '../partner/filing-states.ts';
import type { PartnerClient } from '../partner/partner-client.ts';
import type { PartnerFiling } from '../partner/filing-schema.ts';
import type { Answered, AskService } from './ask-service.ts';

/** A draft, and the filing that it was made from as the service shows it now. */
export interface FreshDraft extends Draft {
  readonly filing: PartnerFiling;
}

/**
 * Reads a filing and the rules of its state from the service, and writes nothing, there or here. The answer
 * is null if the service does not know the filing.
 */
export type ReadDraft = (account: string, filingId: string) => Promise<Answered<FreshDraft | null>>;

// Milliseconds for which the rules of a state are believed.
const rulesMs = 3_600_000;
// Maximum number of states of accounts whose rules are remembered.
const rulesMax = 500;

/** Reads in the turns of `askService`; the rules of a state once an hour for each account. */
export function createReadDraft(askService: AskService): ReadDraft {
  const known = createBoundedMap<
    string,
    { readonly rules: readonly FilingStateRules[]; readonly at: number }
  >(rulesMax);

  async function rulesOf(
    account: string,
    document: Readonly<Record<string, unknown>>,
    client: PartnerClient,
    signal: AbortSignal,
  ): Promise<readonly FilingStateRules[]> {
    const { stateAbbr } = Object(document['filingState']) as { stateAbbr?: unknown };
    if (typeof stateAbbr !== 'string') return [];
    const key = JSON.stringify([account, stateAbbr]);
    const found = known.get(key);
    if (found !== undefined && performance.now() - found.at < rulesMs) return found.rules;
    const rules = await client.filingStates(stateAbbr, signal);
    known.set(key, { rules, at: performance.now() });
    return rules;
  }

  return (account, filingId) =>
    askService(account, async (client, signal) => {
      const { filing } = await client.getFiling(filingId, signal);
      if (filing === null) return null;
      const document = filing.document();
      return { filing, ...draftOf(document, await rulesOf(account, document, client, signal)) };
    });
}
