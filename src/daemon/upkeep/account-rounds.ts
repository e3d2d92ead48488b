import type { Logger } from 'pino';
import { accountsAtOnce, type AccountSlice } from '../../accounts/account-slices.ts';
import type { Account } from '../../accounts/account.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { WorkWatch } from '../../monitoring/work-watch.ts';
import type { PollQueue } from '../../polling/schedule/poll-queue.ts';
import { isPollMissing } from '../../polling/schedule/poll-schedule.ts';
import type { PollingStore } from '../../polling/store/polling-store.ts';
import { unlessUnreadable } from '../../redis/unreadable-record.ts';

export interface AccountRoundsDeps {
  readonly accounts: Pick<AccountStore, 'slice' | 'count'>;
  readonly polling: Pick<PollingStore, 'read'>;
  readonly pollQueue: Pick<PollQueue, 'suspects' | 'count' | 'reschedule'>;
  /** Does what is due of an account's own upkeep. */
  readonly maintain: (account: Account) => Promise<void>;
  readonly work: Pick<WorkWatch, 'expect'>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly logger: Pick<Logger, 'warn'>;
}

// Maximum number of slices in one look while schedules are missing.
const slicesMax = 10;

/** The findings of a round so far. */
interface Found {
  readonly accounts: number;
  /** Records that have no schedule because they are no readable account. */
  readonly others: number;
  readonly shortestMs: number;
}

const nothing: Found = { accounts: 0, others: 0, shortestMs: Infinity };

/**
 * Upkeep of all accounts at a bounded cost per call, however many accounts there are. The function looks at
 * the next accounts of the round: are they scheduled, and is anything of their own upkeep due. To be called
 * every three seconds. Up to five hundred accounts are looked at each time, and ten times as many while some
 * account has no schedule. Several processes may make rounds at once.
 */
export function createAccountRounds(deps: AccountRoundsDeps): () => Promise<void> {
  const { accounts, polling, pollQueue, maintain, work, now, logger } = deps;
  let place = '0';
  let found = nothing;
  let lastRound = nothing;
  let underWay: Promise<void> | null = null;

  // The mark that polls leave decides, as clocks may differ. Only polls set marks aside that cannot be read.
  async function isMissing({ account, pollIntervalMs }: Account): Promise<boolean> {
    const marks = await unlessUnreadable(() => polling.read(account));
    return marks === null || isPollMissing(marks, pollIntervalMs, now());
  }

  // Returns the accounts that were scheduled anew.
  async function repair(suspects: readonly Account[]): Promise<string[]> {
    const repaired: string[] = [];
    for (const suspect of suspects) {
      if (!(await isMissing(suspect))) continue;
      await pollQueue.reschedule(suspect);
      repaired.push(suspect.account);
    }
    return repaired;
  }

  async function visit(slice: AccountSlice): Promise<string[]> {
    const repaired = await repair(await pollQueue.suspects(slice.accounts));
    for (const account of slice.accounts) await maintain(account);
    found = {
      accounts: found.accounts + slice.accounts.length,
      others: found.others + slice.leaving.length + slice.unreadable,
      shortestMs: Math.min(found.shortestMs, ...slice.accounts.map(({ pollIntervalMs }) => pollIntervalMs)),
    };
    place = slice.next;
    if (place !== '0') return repaired;
    lastRound = found;
    found = nothing;
    return repaired;
  }

  async function isScheduleMissing(): Promise<boolean> {
    const [records, jobs] = await Promise.all([accounts.count(), pollQueue.count()]);
    return jobs < records - lastRound.others;
  }

  async function lookOnce(): Promise<void> {
    const repaired: string[] = [];
    for (let slices = 0; slices < slicesMax; slices += 1) {
      repaired.push(...(await visit(await accounts.slice(place, accountsAtOnce))));
      if (place === '0' || !(await isScheduleMissing())) break;
    }
    // Repairing a schedule is not enough: the daemon is ready only once polls run.
    const shortestMs = Math.min(found.shortestMs, lastRound.shortestMs);
    work.expect('poll', shortestMs === Infinity ? null : shortestMs);
    if (repaired.length > 0) logger.warn({ accounts: repaired }, 'poll.rescheduled');
  }

  return () => (underWay ??= lookOnce().finally(() => (underWay = null)));
}
