import { decodeRecord, isUnreadable, parseShaped } from '../redis/unreadable-record.ts';
import type { UnreadableRecordError } from '../redis/unreadable-record.ts';

/** An account, as its field of the hash holds it. */
export interface StoredAccount {
  readonly incarnation: string;
  readonly baseUrl: string;
  readonly sealedKey: string;
  readonly pollIntervalMs: number | null;
  readonly sweepIntervalMs: number | null;
  /** Missing or null where there are no limits. */
  readonly stalledAfter?: Readonly<Record<string, string>> | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * In place of an account while its keys are removed, and until the first ones of a new account may be
 * written.
 */
export interface Vacancy {
  /** The incarnation that comes next. */
  readonly next: string;
}

/** Null where there is a vacancy. Throws UnreadableRecordError. */
export function parseAccount(key: string, account: string, text: string): StoredAccount | null {
  const stored = decodeRecord(key, account, text, toStoredOrVacancy);
  return 'next' in stored ? null : stored;
}

/** The same, with the error as a value. */
export function tryParseAccount(
  key: string,
  account: string,
  text: string,
): StoredAccount | UnreadableRecordError | null {
  try {
    return parseAccount(key, account, text);
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
