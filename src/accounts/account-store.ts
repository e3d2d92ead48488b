import { createAccountChanges, type AccountChanges } from './account-changes.ts';
import { createAccountReads, type AccountReads, type AccountReadsDeps } from './account-reads.ts';
import { eachSlice } from './account-slices.ts';

/** The accounts of this deployment. */
export interface AccountStore extends AccountReads, Omit<AccountChanges, 'finishRemoval'> {
  /** Finishes removals that a crash has interrupted. Harmless to removals under way. */
  finishRemovals(): Promise<void>;
}

/** Accounts in one Redis hash, partner keys sealed. */
export function createAccountStore(deps: AccountReadsDeps): AccountStore {
  const reads = createAccountReads(deps);
  const { finishRemoval, ...changes } = createAccountChanges(deps);
  return {
    ...reads,
    ...changes,
    async finishRemovals() {
      for await (const { leaving } of eachSlice(reads.slice))
        for (const { account, vacancy } of leaving) await finishRemoval(account, vacancy);
    },
  };
}
