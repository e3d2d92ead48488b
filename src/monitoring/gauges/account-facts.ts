import type { Account } from '../../accounts/account.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import type { StayReads } from '../../filings/stay-reads.ts';
import { decodeMarks, type PollingMarks } from '../../polling/store/marks.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { CertificateWarnings } from '../../subscriptions/certificates/certificate-warnings.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import { boundedCounts } from './bounded-counts.ts';
import {
  readSubscriptionGauges,
  type SubscriptionGauges,
  type SubscriptionGaugesDeps,
} from './subscription-gauges.ts';

/**
 * The facts of one account that the gauges show, as it was read last. Times are milliseconds on Redis's
 * clock.
 */
export interface AccountFacts {
  readonly account: string;
  readonly pollIntervalMs: number;
  readonly createdAt: number;
  readonly marks: PollingMarks;
  /** Filings by status, see `boundedCounts`. */
  readonly counts: Readonly<Record<string, number>>;
  /** When the oldest filing of each status came into it; statuses without filings are missing. */
  readonly oldest: ReadonlyMap<string, number>;
  /** Null where a record of a subscription cannot be read. */
  readonly subscriptions: SubscriptionGauges | null;
  /** When the first certificate of its subscriptions ends; null without certificates. */
  readonly certificateEnd: number | null;
}

export interface AccountFactsDeps extends SubscriptionGaugesDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly accounts: Pick<AccountStore, 'get'>;
  readonly snapshot: Pick<SnapshotStore, 'counts'>;
  readonly stays: Pick<StayReads, 'oldest'>;
  readonly certificates: Pick<CertificateWarnings, 'firstEnd'>;
}

/** Reads what the gauges show. Rejects when Redis does not answer. */
export interface AccountFactsReads {
  /** Null where there is no such account, or a record of it cannot be read. */
  facts(account: string): Promise<AccountFacts | null>;
  /** The same for an account whose record was read already. */
  factsOf(account: Account): Promise<AccountFacts | null>;
  /** The facts after a poll that changed no filing: a read of a few marks. */
  afterPoll(former: AccountFacts): Promise<AccountFacts>;
}

// The marks on which an account's health and the age of its polls depend.
const shownMarks = [
  'baselined',
  'lastCompletePollAt',
  'lastCompleteEndAt',
  'consecutiveFailures',
  'backoffUntil',
  'authFailed',
  'doubt',
] as const;

/** Reads over one connection. */
export function createAccountFactsReads(deps: AccountFactsDeps): AccountFactsReads {
  const { redis, keys, accounts, snapshot, stays, certificates } = deps;

  async function marksOf(account: string): Promise<PollingMarks> {
    const values = await redis.hmget(keys.account(account).polling, ...shownMarks);
    const found = shownMarks.flatMap((name, i) => {
      const value = values[i] ?? null;
      return value === null ? [] : [[name, value] as const];
    });
    return decodeMarks(Object.fromEntries(found));
  }

  async function factsOf({ account, pollIntervalMs, createdAt }: Account): Promise<AccountFacts | null> {
    return unlessUnreadable(async () => {
      const [marks, counts, oldest, subscriptions, certificateEnd] = await Promise.all([
        marksOf(account),
        snapshot.counts(account),
        stays.oldest(account),
        unlessUnreadable(() => readSubscriptionGauges(deps, account)),
        unlessUnreadable(() => certificates.firstEnd(account)),
      ]);
      const bounded = boundedCounts(counts);
      const read = { marks, counts: bounded, oldest, subscriptions, certificateEnd };
      return { account, pollIntervalMs, createdAt, ...read };
    });
  }

  return {
    factsOf,
    async facts(name) {
      const account = await unlessUnreadable(() => accounts.get(name));
      return account === null ? null : factsOf(account);
    },
    async afterPoll(former) {
      const marks = await unlessUnreadable(() => marksOf(former.account));
      return marks === null ? former : { ...former, marks };
    },
  };
}

/**
 * Resolves with what `read` does, or with null where that meets a record that cannot be read: an account has
 * no series from such a record, and the other accounts do.
 */
export async function unlessUnreadable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (toUnreadable(error) === null) throw error;
    return null;
  }
}
