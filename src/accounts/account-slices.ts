import type { UnreadableRecordError } from '../redis/unreadable-record.ts';
import type { Account } from './account.ts';

/** A part of the accounts, in no order. */
export interface AccountSlice {
  /** The accounts that can be read. */
  readonly accounts: readonly Account[];
  /** Records of removals under way, or interrupted ones. */
  readonly leaving: readonly { readonly account: string; readonly vacancy: string }[];
  /** Number of records that cannot be read. */
  readonly unreadable: number;
  /** Start of the next part; '0' after the last one. */
  readonly next: string;
}

/** Maximum number of accounts that are read at once: about a millisecond of Redis's time. */
export const accountsAtOnce = 500;

/** All accounts, part by part: Redis and the process serve others in between. */
export async function* eachSlice(
  slice: (from: string, count: number) => Promise<AccountSlice>,
): AsyncGenerator<AccountSlice> {
  let from = '0';
  do {
    const part = await slice(from, accountsAtOnce);
    yield part;
    from = part.next;
  } while (from !== '0');
}

/** The names of all accounts that can be read; nothing holds all of them at once. */
export async function* eachName(
  slice: (from: string, count: number) => Promise<AccountSlice>,
): AsyncGenerator<string> {
  for await (const { accounts } of eachSlice(slice)) for (const { account } of accounts) yield account;
}

/** An account whose record cannot be read. `put` replaces such a record, `remove` removes it. */
export interface UnreadableAccount {
  readonly account: string;
  readonly error: UnreadableRecordError;
}

/** An account, as far as it can be read. */
export type AccountRecord = Account | UnreadableAccount;
