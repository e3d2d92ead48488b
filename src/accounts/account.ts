/** A partner account whose filings are watched. */
export interface Account {
  readonly account: string;
  /**
   * A random id, drawn when the account was created. An account that was removed and created again has
   * another one. Empty where the record was written again while the keys named none.
   */
  readonly incarnation: string;
  readonly baseUrl: string;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
  /**
   * How long a filing is expected to stay in a status at most: ISO 8601 durations by status; null for no such
   * limits.
   */
  readonly stalledAfter: Readonly<Record<string, string>> | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An account with its key for the partner service. */
export interface KeyedAccount extends Account {
  /** In clear, in memory only; in Redis it is sealed. */
  readonly partnerKey: string;
}

/** The settings of an account; null intervals mean the deployment's defaults. */
export interface AccountSettings {
  readonly baseUrl: string;
  readonly partnerKey: string;
  readonly pollIntervalMs: number | null;
  readonly sweepIntervalMs: number | null;
  readonly stalledAfter?: Account['stalledAfter'];
}

/** The settings of an account that a change names; the others stay. */
export type AccountPatch = Partial<AccountSettings>;

/** Pattern of an account's name: it stands in keys, paths and metric labels. */
export const accountNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';
