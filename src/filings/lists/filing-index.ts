import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import {
  ofMember,
  timeOfRank,
  type AgeOrder,
  type FilingIndexName,
  type IndexedFilings,
  type RankedFiling,
} from '../detection/age-rank.ts';

/** Filings as one of the indexes has them; by default the one by age. */
export interface FilingSource extends IndexedFilings {
  readonly by?: FilingIndexName;
}

/**
 * The filings of an account in each status but COMPLETED, in the order in which they came into it, or of
 * their effective dates. The script of a commit keeps it in one step with the states (commit-changes.lua).
 */
export type FilingIndex = ReturnType<typeof createFilingIndex>;

// Maximum number of ids that one command reads: about a millisecond.
const idsAtOnce = 5_000;

/** The index in a sorted set per account. */
export function createFilingIndex(redis: RedisClient, keys: Keys) {
  async function members(
    { account, status, by = 'index' }: FilingSource,
    from: string | null,
    count: number,
    order: AgeOrder,
  ): Promise<RankedFiling[]> {
    const index = keys.account(account)[by];
    const [first, last] = [`[${status}\0`, `(${status}\u0001`];
    const found =
      order === 'newest'
        ? await redis.zrangebylex(index, from ?? first, last, 'LIMIT', 0, count)
        : await redis.zrevrangebylex(index, from ?? last, first, 'LIMIT', 0, count);
    return found.map((member) => ofMember(status, member));
  }

  return {
    /**
     * Up to `count` filings of a status from a bound of ZRANGEBYLEX on, the newest first; with `oldest` the
     * oldest first, from a bound of ZREVRANGEBYLEX on. Null begins with the first of all.
     */
    members,
    /**
     * Ids of all filings in one status, the newest first. Read in parts: a filing that comes or goes
     * meanwhile may or may not be among them, the others are.
     */
    async ids({ account, status }: IndexedFilings): Promise<string[]> {
      const { index } = keys.account(account);
      const ids: string[] = [];
      for (let from = `[${status}\0`; ;) {
        // Part by part: Redis serves other clients in between.
        const part = await redis.zrangebylex(index, from, `(${status}\u0001`, 'LIMIT', 0, idsAtOnce);
        for (const member of part) ids.push(ofMember(status, member).id);
        if (part.length < idsAtOnce) return ids;
        from = `(${part.at(-1) ?? ''}`;
      }
    },
    /** Number of filings in one status. */
    count: ({ account, status }: IndexedFilings): Promise<number> =>
      redis.zlexcount(keys.account(account).index, `[${status}\0`, `(${status}\u0001`),
    /**
     * When the oldest filing of each of these statuses came into it (ms). Statuses without filings are
     * missing, and so are those whose oldest filing came into it at a time that is not known.
     */
    async oldest(account: string, statuses: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const found = await Promise.all(
        statuses.map(async (status): Promise<[string, number]> => {
          const [first] = await members({ account, status }, null, 1, 'oldest');
          return [status, first === undefined ? 0 : timeOfRank(first.rank)];
        }),
      );
      return new Map(found.filter(([, since]) => since > 0));
    },
  };
}
