import { defaultOwner, enabledStatesOf, secondKey, secondOwner } from './decisions.ts';
import { filingStates, type FilingState } from './filings/filing-states.ts';

/** A key of the service and the account it opens; several keys may open the same account. */
export interface PartnerKey {
  readonly key: string;
  readonly owner: string;
}

/** An account of the service; `owner` is its user id, the `userId` of its filings. */
export interface Account {
  readonly owner: string;
  readonly enabledStates: readonly string[];
}

/** The accounts behind the partner keys. */
export type Accounts = ReturnType<typeof createAccounts>;

/** The keys that work when nothing is configured: the given one and a second account's. */
export function builtInKeys(key: string): PartnerKey[] {
  return [
    { key, owner: defaultOwner },
    { key: secondKey, owner: secondOwner },
  ];
}

/** Makes the accounts behind the keys, which may not be empty; of two rows for one key the first counts. */
export function createAccounts(keys: readonly PartnerKey[]) {
  const first = keys[0];
  if (first === undefined) throw new RangeError('the sandbox needs at least one partner key');
  const byKey = new Map(keys.toReversed().map(({ key, owner }) => [key, accountOf(owner)]));
  return {
    /** The account that a key opens, or undefined. */
    byKey: (key: string) => byKey.get(key),
    /** The account of an owner; an owner without a key has the same rights as one with a key. */
    byOwner: accountOf,
    /** The owner if a request names none: that of the first key. */
    defaultOwner: first.owner,
  };
}

/**
 * The body of `GET /partner/me` for an account (docs/partner.md#accounts). The built-in second account has no
 * names, as real accounts may.
 */
export function accountBody(account: Account) {
  const named = account.owner !== secondOwner;
  return {
    firstName: named ? 'Sandy' : null,
    lastName: named ? 'Box' : null,
    email: `${account.owner}@partner.example`,
    enabledStates: account.enabledStates,
  };
}

/** The body of `GET /partner/me`. */
export type AccountBody = ReturnType<typeof accountBody>;

/** The states that an account may file in. */
export function statesOf(account: Account): FilingState[] {
  return filingStates.filter((state) => account.enabledStates.includes(state.stateAbbr));
}

function accountOf(owner: string): Account {
  const enabledStates = enabledStatesOf.get(owner) ?? filingStates.map((state) => state.stateAbbr);
  return { owner, enabledStates };
}
