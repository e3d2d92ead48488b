import { NewerFormatError } from '../redis/newer-format-error.ts';
import { decodeRecord, isShaped, isUnreadable, parseShaped } from '../redis/unreadable-record.ts';
import type { UnreadableError } from '../redis/unreadable-record.ts';

/** An account, as its field of the hash holds it. */
export interface StoredAccount {
  readonly v: 1;
  /** Missing where an older version has created or changed it. */
  readonly incarnation?: string;
  readonly baseUrl: string;
  readonly sealedKey: string;
  readonly pollIntervalMs: number | null;
  readonly sweepIntervalMs: number | null;
  /** Missing where there are no limits, or an older version has written the account. */
  readonly stalledAfter?: Readonly<Record<string, string>> | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * In place of an account while its keys are removed, and until the first ones of a new account may be
 * written.
 */
export interface Vacancy {
  readonly v: 1;
  /** The incarnation that comes next. */
  readonly next: string;
}

/** Null where there is a vacancy. Throws NewerFormatError and UnreadableRecordError. */
export function parseAccount(key: string, account: string, text: string): StoredAccount | null {
  const stored = decodeRecord(key, account, text, toStoredOrVacancy);
  return 'next' in stored ? null : stored;
}

/** The same, with the error as a value. */
export function tryParseAccount(
  key: string,
  account: string,
  text: string,
): StoredAccount | UnreadableError | null {
  try {
    return parseAccount(key, account, text);
  } catch (error) {
    if (isUnreadable(error)) return error;
    throw error;
  }
}

function toStoredOrVacancy(text: string): StoredAccount | Vacancy | null {
  const stored = parseShaped<{ v: number }>(text, { v: 'number' }) as StoredAccount | Vacancy | null;
  if (stored === null) return null;
  const { v }: { readonly v: number } = stored;
  if (v > 1) throw new NewerFormatError('account', v, 'format 1');
  const fits = 'next' in stored ? isShaped(stored, { next: 'string' }) : isShaped(stored, storedShape);
  return fits ? stored : null;
}

const storedShape = {
  baseUrl: 'string',
  sealedKey: 'string',
  createdAt: 'number',
  updatedAt: 'number',
} as const;

/** The incarnation that comes next, as the text of a vacancy has it. */
export function nextOf(vacancy: string): string {
  return (JSON.parse(vacancy) as Vacancy).next;
}
