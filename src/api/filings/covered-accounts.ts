import type { AccountRecord } from '../../accounts/account-slices.ts';
import { seenStatus } from '../../filings/detection/triage.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { healthState, type HealthState, soundUntil } from '../../polling/health.ts';
import { unlessUnreadable } from '../../redis/unreadable-record.ts';
import type { ApiDeps } from '../deps.ts';
import { notFound } from '../shared/problem.ts';

/** An account that the board shows, and how far it can be believed. */
interface CoveredAccount {
  readonly account: string;
  readonly health: HealthState | 'unknown';
  readonly asOf: string | null;
  /** Null while it is not known. */
  readonly rejections: number | null;
  /** The same, without those that another filing answers. */
  readonly open: number | null;
  /** Whether an enabled subscription covers REJECTED; null while it is not known. */
  readonly rejectionsCovered: boolean | null;
}

/** The accounts of the board. */
export interface Coverage {
  /** The accounts that it shows, those that cannot be believed first. */
  readonly shown: readonly CoveredAccount[];
  /** Number of accounts that it covers. */
  readonly total: number;
  /** The accounts that may have rejections. */
  readonly rejecting: readonly string[];
}

type CoveredDeps = Pick<
  ApiDeps,
  'accounts' | 'unsound' | 'rejecting' | 'snapshot' | 'filings' | 'polling' | 'subscriptions' | 'now'
>;

/** An account that was looked at. */
interface Looked extends CoveredAccount {
  /** See `soundUntil`. */
  readonly soundUntil: number;
  /** Whether its rejections can be listed. */
  readonly isReadable: boolean;
}

// Maximum number of accounts that are shown.
const shownMax = 200;
// Number of accounts that are looked at at once.
const accountsAtOnce = 100;

/**
 * The accounts of the board: one, or all with null. Of all accounts those are read that may be other than
 * `ok`, and then by name as many as are shown; an account whose records cannot be read is not `ok`. Throws
 * the problem 404 where the one does not exist.
 */
export async function coveredAccounts(deps: CoveredDeps, only: string | null): Promise<Coverage> {
  if (only !== null) {
    const looked = await look(deps, await oneAccount(deps, only));
    return coverage(looked, 1, looked[0]?.isReadable === true ? [only] : []);
  }
  const found = await deps.unsound.find(deps.now(), shownMax);
  const suspects = await look(deps, await deps.accounts.some(found.map(({ account }) => account)));
  const looked = new Map(suspects.map((each) => [each.account, each]));
  await Promise.all(
    found.map(async (former) => {
      const until = looked.get(former.account)?.soundUntil ?? 0;
      if (until !== Number(former.soundUntil) || !looked.has(former.account))
        await deps.unsound.note(former.account, until, former);
    }),
  );
  const page = await deps.accounts.page('', shownMax);
  const others = page.records.filter(({ account }) => !looked.has(account));
  const rest = await look(deps, others.slice(0, shownMax - looked.size));
  const all = [...suspects, ...rest];
  const hidden = new Set(all.flatMap(({ account, isReadable }) => (isReadable ? [] : [account])));
  const rejecting = (await deps.rejecting.all()).filter((account) => !hidden.has(account));
  return coverage(all, await deps.accounts.count(), rejecting);
}

/** Number of rejections of these accounts that stand in this group of the index, a command for each. */
export async function countRejections(
  { filings }: Pick<ApiDeps, 'filings'>,
  rejecting: readonly string[],
  group: string,
): Promise<number> {
  const counts = await inParts(
    rejecting,
    async (account) => (await unlessUnreadable(() => filings.count({ account, status: group }))) ?? 0,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

function coverage(looked: readonly Looked[], total: number, rejecting: readonly string[]): Coverage {
  const shown = looked.toSorted((a, b) => rankOf(a) - rankOf(b) || (a.account < b.account ? -1 : 1));
  return {
    shown: shown.slice(0, shownMax).map(({ account, health, asOf, rejections, open, rejectionsCovered }) => {
      return { account, health, asOf, rejections, open, rejectionsCovered };
    }),
    total,
    rejecting,
  };
}

async function oneAccount({ accounts }: CoveredDeps, account: string): Promise<AccountRecord[]> {
  const found = await accounts.some([account]);
  if (found.length === 0) throw notFound('account_not_found');
  return found;
}

async function inParts<T, R>(all: readonly T[], work: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < all.length; from += accountsAtOnce)
    results.push(...(await Promise.all(all.slice(from, from + accountsAtOnce).map(work))));
  return results;
}

function look(deps: CoveredDeps, records: readonly AccountRecord[]): Promise<Looked[]> {
  return inParts(records, (each) => lookAt(deps, each));
}

async function lookAt(
  { snapshot, filings, polling, subscriptions, now }: CoveredDeps,
  record: AccountRecord,
): Promise<Looked> {
  if ('error' in record) return unknown(record.account, false);
  const { account, pollIntervalMs, createdAt } = record;
  const read = await unlessUnreadable(() =>
    Promise.all([
      polling.read(account),
      snapshot.counts(account),
      filings.count({ account, status: seenStatus }),
      subscriptions.coversRejections(account),
    ]),
  );
  if (read === null) return unknown(account, false);
  const [marks, counts, open, rejectionsCovered] = read;
  // Until a poll has read everything, other rejections are not known.
  if (!marks.baselined || marks.lastCompletePollAt === 0) return unknown(account, true);
  const at = now();
  return {
    account,
    health: healthState(marks, pollIntervalMs, createdAt, at),
    asOf: isoOrNull(marks.lastCompletePollAt),
    rejections: Math.max(0, counts[seenStatus] ?? 0),
    open,
    rejectionsCovered,
    soundUntil: soundUntil(marks, pollIntervalMs, createdAt, at),
    isReadable: true,
  };
}

function unknown(account: string, isReadable: boolean): Looked {
  const notKnown = { asOf: null, rejections: null, open: null, rejectionsCovered: null };
  return { account, health: 'unknown', ...notKnown, soundUntil: 0, isReadable };
}

function rankOf({ health }: CoveredAccount): number {
  return health === 'ok' ? 1 : 0;
}
