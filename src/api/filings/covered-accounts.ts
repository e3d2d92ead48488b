import { type Static, Type } from 'typebox';
import type { AccountRecord } from '../../accounts/account-slices.ts';
import { seenStatus } from '../../filings/detection/triage.ts';
import { inParts } from '../../memory/in-parts.ts';
import { healthState, soundUntil } from '../../polling/health.ts';
import { unlessUnreadable } from '../../redis/unreadable-record.ts';
import type { ApiDeps } from '../deps.ts';
import { rejectionsCovered as coveredSchema } from '../accounts/view.ts';
import { notFound } from '../shared/problem.ts';
import * as s from '../shared/schema.ts';

/** An account of the board. */
export const boardAccountSchema = s.shared('BoardAccount', {
  account: Type.String({ examples: ['default'] }),
  health: s.oneOf(['unknown', 'baselining', 'ok', 'backing_off', 'auth_failed', 'doubtful', 'stale'], {
    description:
      'The state of its polling; `unknown` until a poll has read everything: its rejections are not known, which is not the same as none.',
  }),
  asOf: s.timeOrNull('Start of the last poll that read everything; null = none did.'),
  rejections: s.integerOrNull(
    'Number of its filings that are rejected, whatever the filters; null while it is unknown.',
  ),
  open: s.integerOrNull('Number of those that no other filing answers.'),
  rejectionsCovered: coveredSchema,
});

type BoardAccount = Static<typeof boardAccountSchema>;

/** The accounts of the board. */
export interface Coverage {
  /** The accounts that it shows, those that cannot be believed first. */
  readonly shown: BoardAccount[];
  /** Number of accounts that it covers. */
  readonly total: number;
  /** The accounts that may have rejections. */
  readonly rejecting: readonly string[];
}

/** An account that was looked at. */
interface Looked extends BoardAccount {
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
 * The accounts of the board: one, or all with null. For all, it reads those that may be other than
 * `ok`, then others by name, up to the number shown. An account whose records cannot be read is not `ok`.
 * Throws the problem 404 if the one account does not exist.
 */
export async function coveredAccounts(deps: ApiDeps, only: string | null): Promise<Coverage> {
  if (only !== null) {
    const found = await deps.accounts.some([only]);
    if (found.length === 0) throw notFound('account_not_found');
    const looked = await look(deps, found);
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
    accountsAtOnce,
    async (account) => (await unlessUnreadable(() => filings.count({ account, status: group }))) ?? 0,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

function coverage(looked: readonly Looked[], total: number, rejecting: readonly string[]): Coverage {
  const all = looked.toSorted(
    (a, b) => Number(a.health === 'ok') - Number(b.health === 'ok') || (a.account < b.account ? -1 : 1),
  );
  const shown = all.slice(0, shownMax).map((each) => s.show(boardAccountSchema, each));
  return { shown, total, rejecting };
}

function look(deps: ApiDeps, records: readonly AccountRecord[]): Promise<Looked[]> {
  return inParts(records, accountsAtOnce, (each) => lookAt(deps, each));
}

async function lookAt(
  { snapshot, filings, polling, subscriptions, now }: ApiDeps,
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
  if (!marks.baselined || marks.lastCompletePollAt === 0) return unknown(account, true, rejectionsCovered);
  const at = now();
  return {
    account,
    health: healthState(marks, pollIntervalMs, createdAt, at),
    asOf: new Date(marks.lastCompletePollAt).toISOString(),
    rejections: Math.max(0, counts[seenStatus] ?? 0),
    open,
    rejectionsCovered,
    soundUntil: soundUntil(marks, pollIntervalMs, createdAt, at),
    isReadable: true,
  };
}

function unknown(account: string, isReadable: boolean, rejectionsCovered: boolean | null = null): Looked {
  const notKnown = { asOf: null, rejections: null, open: null };
  return { account, health: 'unknown', ...notKnown, rejectionsCovered, soundUntil: 0, isReadable };
}
