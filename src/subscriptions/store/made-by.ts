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

/** Makes the order anew from the subscriptions; one that is added meanwhile is in it, too. */
export async function rebuildMadeBy(redis: RedisClient, keys: Keys, account: string): Promise<void> {
  const { subscriptions, byMaker } = keys.account(account);
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscan(subscriptions, cursor, 'COUNT', readAtOnce);
    for (let i = 0; i < flat.length; i += 2) {
      const made = parse(flat[i + 1] ?? '');
      const member = made === null ? '' : madeByMember({ ...made, id: flat[i] ?? '' });
      if (member !== '') await redis.zadd(byMaker, 0, member);
    }
    cursor = next;
  } while (cursor !== '0');
}

// Number of subscriptions that are read at once: each may have ten KB.
const readAtOnce = 50;

function makerOf(text: string): string | null {
  return parse(text)?.createdBy ?? null;
}

// A record of a newer format has these fields as well; garbage has no maker.
function parse(text: string): Made | null {
  try {
    return JSON.parse(text) as Made | null;
  } catch {
    return null;
  }
}
