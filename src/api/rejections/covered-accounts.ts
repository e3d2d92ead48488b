import { isoOrNull } from '../../json/iso-time.ts';
import { healthState, type HealthState } from '../../polling/health.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import { seenStatus } from '../../filings/seen/seen-mark.ts';
import type { ApiDeps } from '../deps.ts';
import { accountNotFound } from '../shared/not-found.ts';

/** An account that the board covers, and how far it can be believed. */
export interface CoveredAccount {
  readonly account: string;
  readonly health: HealthState | 'unknown';
  readonly asOf: string | null;
  /** Null while it is not known. */
  readonly rejections: number | null;
  /** Number of filings that are in the list of rejections, whether or not the poll has got to the end. */
  readonly listed: number;
}

type CoveredDeps = Pick<ApiDeps, 'accounts' | 'snapshot' | 'polling' | 'now'>;

// Number of accounts that are looked at at once.
const accountsAtOnce = 100;

/**
 * The accounts of the board: one, or all with null. Accounts that cannot be believed come first: an account
 * whose records cannot be read is among them. Throws the problem 404 where the one does not exist.
 */
export async function coveredAccounts(deps: CoveredDeps, only: string | null): Promise<CoveredAccount[]> {
  const { accounts: chosen, unreadable: unread } =
    only === null ? await deps.accounts.all() : await oneAccount(deps, only);
  const covered: CoveredAccount[] = unread.map(({ account }) => unknown(account));
  for (let from = 0; from < chosen.length; from += accountsAtOnce) {
    const some = chosen.slice(from, from + accountsAtOnce);
    // Part by part: there may be thousands.
    covered.push(...(await Promise.all(some.map((each) => cover(deps, each)))));
  }
  return covered.toSorted((a, b) => rankOf(a) - rankOf(b) || (a.account < b.account ? -1 : 1));
}

async function oneAccount({ accounts }: CoveredDeps, account: string) {
  try {
    const found = await accounts.get(account);
    if (found === null) throw accountNotFound();
    return { accounts: [found], unreadable: [] };
  } catch (error) {
    const unreadable = toUnreadable(error);
    if (unreadable === null) throw error;
    return { accounts: [], unreadable: [{ account, error: unreadable }] };
  }
}

async function cover(
  { snapshot, polling, now }: CoveredDeps,
  { account, pollIntervalMs, createdAt }: { account: string; pollIntervalMs: number; createdAt: number },
): Promise<CoveredAccount> {
  try {
    const [marks, counts] = await Promise.all([polling.read(account), snapshot.counts(account)]);
    const listed = Math.max(0, counts[seenStatus] ?? 0);
    // Until a poll has read everything, other rejections are not known.
    if (!marks.baselined || marks.lastCompletePollAt === 0) return { ...unknown(account), listed };
    const health = healthState(marks, pollIntervalMs, createdAt, now());
    return { account, health, asOf: isoOrNull(marks.lastCompletePollAt), rejections: listed, listed };
  } catch (error) {
    if (toUnreadable(error) === null) throw error;
    return unknown(account);
  }
}

function unknown(account: string): CoveredAccount {
  return { account, health: 'unknown', asOf: null, rejections: null, listed: 0 };
}

function rankOf({ health }: CoveredAccount): number {
  return health === 'ok' ? 1 : 0;
}
