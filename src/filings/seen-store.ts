import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { quotaBytesMax, throwIfOverQuota } from '../redis/quota/account-quota.ts';
import { loadScript } from '../redis/scripts.ts';
import type { SeenMark } from './detection/seen-mark.ts';

/** The result of marking a filing. */
export type Marked =
  | 'marked'
  | 'not_rejected' // it is in another status, removed, or was never seen
  | 'gone' // the account was removed meanwhile
  | 'full'; // the account has as many marks as it may have

/** The people who have seen rejections. A mark belongs to one stay: a later event of the filing voids it. */
export interface SeenStore {
  /**
   * Marks a filing that is REJECTED now; a mark that it has is replaced. Atomic. Throws AccountQuotaError.
   */
  mark(account: string, filingId: string, mark: SeenMark): Promise<Marked>;
  /** Takes the mark of a filing away; without one nothing happens. */
  unmark(account: string, filingId: string): Promise<void>;
}

/** Maximum number of marks of an account. */
const seenMax = 5_000;
/** Maximum characters of the name in a mark. */
export const seenByMax = 100;
/** Maximum characters of the note in a mark. */
export const seenNoteMax = 500;

/** Marks in one Redis hash per account; each one that is written removes a few that are void. */
export function createSeenStore(redis: RedisClient, keys: Keys): SeenStore {
  const markScript = loadScript(new URL('mark-seen.lua', import.meta.url));
  return {
    async mark(account, filingId, { by, note, at }) {
      const key = keys.account(account);
      const reply = await markScript.run(
        redis,
        [key.seen, key.filings, key.incarnation, key.quota, key.subscriptions, key.registrations, key.tokens],
        [filingId, JSON.stringify(by), JSON.stringify(note), at, seenMax, quotaBytesMax],
      );
      throwIfOverQuota(reply);
      return reply as Marked;
    },
    async unmark(account, filingId) {
      await redis.hdel(keys.account(account).seen, filingId);
    },
  };
}
