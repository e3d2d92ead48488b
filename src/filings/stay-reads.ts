import { isIndexed, knownStatuses } from '../partner/filing-statuses.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { OnUnreadable } from '../redis/unreadable-record.ts';
import { decodeState, isPlainState, type FilingState } from './detection/filing-state.ts';
import { newestMember, newestRank, ofMember } from './detection/newest.ts';
import { createUnreadableStates } from './repair/unreadable-states.ts';
import { createNewestIndex } from './newest/newest-index.ts';

/** A filing and how it stands. */
export interface Stay {
  readonly id: string;
  readonly state: FilingState;
}

/** A stretch of the filings of one status, in the order of their age. */
export interface StayPage {
  /** Those whose state can be read, the newest first. */
  readonly stays: readonly Stay[];
  /** Where the next, older stretch begins; null at the end. */
  readonly next: string | null;
}

/**
 * Filings by the time for which they have been in their status. The first question about an account orders
 * its filings, see `NewestIndex`.
 */
export interface StayReads {
  /** Up to `count` filings that came into a status at a time (ms) or before; `next` of that page goes on. */
  enteredBy(account: string, status: string, by: number, count: number): Promise<StayPage>;
  /** The stretch that begins at `from`. */
  page(account: string, status: string, from: string, count: number): Promise<StayPage>;
  /**
   * When the filing that has been in it for longest came into each known status (ms), COMPLETED left out;
   * statuses without filings are missing.
   */
  oldest(account: string): Promise<ReadonlyMap<string, number>>;
}

const shownStatuses = knownStatuses.filter(isIndexed);

/** The order by age in Redis. */
export function createStayReads(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
): StayReads {
  const unreadable = createUnreadableStates(redis, keys, onUnreadable);

  async function decode(account: string, ids: readonly string[], texts: readonly (string | null)[]) {
    const known: (readonly [string, FilingState])[] = [];
    for (const [i, id] of ids.entries()) {
      const text = texts[i] ?? null;
      const readable =
        text === null || isPlainState(text) ? text : await unreadable.toReadable(account, id, text);
      if (readable !== null) known.push([id, decodeState(readable)]);
    }
    return known;
  }

  const newest = createNewestIndex(redis, keys, decode);

  async function page(account: string, status: string, from: string, count: number): Promise<StayPage> {
    const found = await newest.read(account, status, from, count + 1);
    const shown = found.slice(0, count);
    const ids = shown.map(({ member }) => ofMember(status, member).id);
    const texts = shown.map(({ text }) => (text === '' ? null : text));
    const known = await decode(account, ids, texts);
    return {
      stays: known.map(([id, state]) => ({ id, state })),
      next: found.length > count ? `[${found[count]?.member ?? ''}` : null,
    };
  }

  return {
    page,
    enteredBy: (account, status, by, count) =>
      page(account, status, `[${newestMember(status, newestRank({ since: by }), '')}`, count),
    oldest: (account) => newest.oldest(account, shownStatuses),
  };
}
