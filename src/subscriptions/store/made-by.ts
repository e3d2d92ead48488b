import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { Subscription } from '../subscription.ts';
import { ageKey, type AgePlace } from './age-order.ts';

/**
 * The subscriptions of tokens that manage only their own, by token and age. The scripts that add and remove
 * subscriptions keep it.
 */
export interface MadeBy {
  /** Up to `count` of a token behind a place, or from the first on, oldest first; reads no others. */
  read(account: string, token: string, after?: AgePlace | null, count?: number): Promise<AgePlace[]>;
  /** Whether there is such a subscription and this token made it; it opens nothing sealed. */
  isMadeBy(account: string, id: string, token: string): Promise<boolean>;
}

/** The order in a sorted set, by the text of its members. */
export function createMadeBy(redis: RedisClient, keys: Keys): MadeBy {
  return {
    async read(account, token, after = null, count = -1) {
      const { byMaker } = keys.account(account);
      const from = after === null ? `[${token} ` : `(${token} ${ageKey(after)}`;
      // The character behind the blank ends the members of the token.
      const found = await redis.zrange(byMaker, from, `(${token}!`, 'BYLEX', 'LIMIT', 0, count);
      return found.map((member) => {
        const [, createdAt = '', id = ''] = member.split(' ', 3);
        return { id, createdAt: Number(createdAt) };
      });
    },
    async isMadeBy(account, id, token) {
      const text = await redis.hget(keys.account(account).subscriptions, id);
      return text !== null && makerOf(text) === token;
    },
  };
}

/** The member of a subscription in the order; empty for one of no such token. */
export function madeByMember({ id, createdAt, createdBy, confined }: Made): string {
  return confined === true && createdBy != null ? `${createdBy} ${ageKey({ id, createdAt })}` : '';
}

type Made = Pick<Subscription, 'id' | 'createdAt' | 'createdBy' | 'confined'>;

// Garbage has no maker.
function makerOf(text: string): string | null {
  try {
    return (JSON.parse(text) as Made | null)?.createdBy ?? null;
  } catch {
    return null;
  }
}
