import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { isGone } from '../is-gone.ts';

/** A subscription whose turn has come in the index. */
export interface DueSubscription {
  readonly account: string;
  readonly id: string;
}

/**
 * When there is something to do about subscriptions that expire, over all accounts. The subscription itself
 * says when it expires: an entry may be early, or outlive its subscription, and is never late once `add` has
 * resolved.
 */
export interface ExpiryIndex {
  /** Has a subscription looked at then (ms on Redis's clock), or earlier where it is to be already. */
  add(due: DueSubscription, at: number): Promise<void>;
  /** Up to `limit` that are due, those first that have been due for longest. */
  due(now: number, limit: number): Promise<DueSubscription[]>;
  /** Has a subscription looked at then, and not before. */
  defer(due: DueSubscription, at: number): Promise<void>;
  /** Forgets a subscription. */
  remove(due: DueSubscription): Promise<void>;
  /**
   * Has those looked at then (ms) whose subscription is gone, as after the removal of an account; that look
   * forgets them. A registration under way loses nothing, because an entry may be early. Reads the index, and
   * no subscription. Returns their number.
   */
  hastenGone(at: number): Promise<number>;
}

// Number of entries that are looked at together.
const lookedAtOnce = 50;

/** The index in one sorted set; neither names of accounts nor ids hold a blank. */
export function createExpiryIndex(redis: RedisClient, keys: Keys): ExpiryIndex {
  const member = ({ account, id }: DueSubscription) => `${account} ${id}`;
  return {
    async add(due, at) {
      await redis.zadd(keys.expiring, 'LT', at, member(due));
    },
    async due(now, limit) {
      const found = await redis.zrangebyscore(keys.expiring, '-inf', now, 'LIMIT', 0, limit);
      return found.map(parse);
    },
    async defer(due, at) {
      await redis.zadd(keys.expiring, 'XX', at, member(due));
    },
    async remove(due) {
      await redis.zrem(keys.expiring, member(due));
    },
    async hastenGone(at) {
      let [cursor, count] = ['0', 0];
      do {
        const [next, flat] = await redis.zscan(keys.expiring, cursor, 'COUNT', lookedAtOnce);
        const entries = flat.filter((_, i) => i % 2 === 0).map(parse);
        const areGone = await Promise.all(entries.map(({ account, id }) => isGone(redis, keys, account, id)));
        const gone = entries.filter((_, i) => areGone[i] === true);
        if (gone.length > 0)
          await redis.zadd(keys.expiring, 'XX', 'LT', ...gone.flatMap((each) => [at, member(each)]));
        cursor = next;
        count += gone.length;
      } while (cursor !== '0');
      return count;
    },
  };
}

function parse(text: string): DueSubscription {
  const [account = '', id = ''] = text.split(' ', 2);
  return { account, id };
}
