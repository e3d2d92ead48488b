import type { DigestSchedule } from './digest.ts';
import { decodeRecord, isUnreadable, parseShaped } from '../redis/unreadable-record.ts';

/**
 * The limit for a filing's stay in a status, an ISO 8601 duration. With `unless: 'seen'` a rejection that a
 * person has seen has none.
 */
export type StayRule = string | { readonly after: string; readonly unless?: 'seen' };

/** A partner account whose filings are watched. */
export interface Account {
  readonly account: string;
  /**
   * A random id, drawn when the account was created. An account that was removed and created again has
   * another one. Empty if the record was rewritten while the keys named none.
   */
  readonly incarnation: string;
  readonly baseUrl: string;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
  /** Limits for the stays of filings by status; null for none. */
  readonly stalledAfter: Readonly<Record<string, StayRule>> | null;
  /** When its digest is sent; null for none. */
  readonly digest: DigestSchedule | null;
  /**
   * How long after its effective date a filing is due: ISO 8601 durations by state, `*` for all others; null
   * for no due dates.
   */
  readonly due: Readonly<Record<string, string>> | null;
  /** How long before the due date events say so: ISO 8601 durations; null for the default. */
  readonly dueWarnings: readonly string[] | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An account with its key for the partner service. */
export interface KeyedAccount extends Account {
  /** In clear, in memory only; in Redis it is sealed. */
  readonly partnerKey: string;
}

/** An account, as its field of the hash holds it; null intervals mean the deployment's defaults. */
export interface StoredAccount
  extends
    Pick<Account, 'incarnation' | 'baseUrl' | 'createdAt' | 'updatedAt'>,
    Partial<Pick<Account, 'stalledAfter' | 'digest' | 'due' | 'dueWarnings'>> {
  readonly sealedKey: string;
  readonly pollIntervalMs: number | null;
  readonly sweepIntervalMs: number | null;
}

/** The optional settings of an account that has none of them. */
export const noneSet = { stalledAfter: null, digest: null, due: null, dueWarnings: null };

/** The settings of an account. */
export type AccountSettings = Pick<KeyedAccount, 'partnerKey'> &
  Omit<StoredAccount, 'sealedKey' | 'incarnation' | 'createdAt' | 'updatedAt'>;

/** The settings of an account that a change names; the others stay. */
export type AccountPatch = Partial<AccountSettings>;

/** Pattern of an account's name: it stands in keys, paths and metric labels. */
export const accountNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

/**
 * In place of an account while its keys are removed, and until the first ones of a new account may be
 * written.
 */
export interface Vacancy {
  /** The incarnation that comes next. */
  readonly next: string;
}

/** Null for a vacancy. Throws UnreadableRecordError. */
export function parseAccount(key: string, account: string, text: string): StoredAccount | null {
  const stored = tryParseAccount(key, account, text);
  if (stored instanceof Error) throw stored;
  return stored;
}

/** The same, with the error as a value. */
export function tryParseAccount(key: string, account: string, text: string) {
  try {
    const stored = decodeRecord(key, account, text, toStoredOrVacancy);
    return 'next' in stored ? null : stored;
  } catch (error) {
    if (isUnreadable(error)) return error;
    throw error;
  }
}

function toStoredOrVacancy(text: string): StoredAccount | Vacancy | null {
  return parseShaped<Vacancy>(text, { next: 'string' }) ?? parseShaped<StoredAccount>(text, storedShape);
}

const storedShape = {
  incarnation: 'string',
  baseUrl: 'string',
  sealedKey: 'string',
  createdAt: 'number',
  updatedAt: 'number',
} as const;

/** The incarnation that comes next, as the text of a vacancy has it. */
export function nextOf(vacancy: string): string {
  return (JSON.parse(vacancy) as Vacancy).next;
}
