import type { AgeOrder } from '../lists/ordered-place.ts';
import type { OrderedWalk } from '../lists/ordered-walk.ts';
import { seenStatus } from '../seen/seen-mark.ts';
import type { RejectingAccount } from './rejecting-index.ts';

// Number of filings that are read for the first one that is still rejected.
const readMax = 1_000;

/** Since when an account's oldest and its newest rejection are rejected; null without. Reads only those. */
export function rejectionSpan(walk: OrderedWalk): (account: string) => Promise<RejectingAccount['since']> {
  return async (account) => {
    const first = async (order: AgeOrder) => {
      const query = { order, after: null, limit: 1, readMax, untilMs: Infinity };
      const { filings } = await walk([{ account, status: seenStatus }], query);
      return filings[0]?.state.since ?? null;
    };
    const [oldest, newest] = [await first('oldest'), await first('newest')];
    if (oldest === null || newest === null) return null;
    return { oldest: Math.max(0, Math.trunc(oldest)), newest: Math.max(0, Math.trunc(newest)) };
  };
}
