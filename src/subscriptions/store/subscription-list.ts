import { takeTurns } from '../../json/turns.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { Subscription } from '../subscription.ts';
import { ageKey, createAgeOrder, placeOf, type AgePlace } from './age-order.ts';
import type { ReadSubscription } from './stored-subscription.ts';
import type { SubscriptionReads } from './subscription-reads.ts';

/** A page of subscriptions; `next` is null at the end of the list. */
export interface SubscriptionPage {
  readonly subscriptions: ReadSubscription[];
  readonly next: string | null;
}

/** The lists of an account's subscriptions. */
export interface SubscriptionList {
  /**
   * A page of an account's subscriptions, oldest first; `after` is the `next` of the page before. Only those
   * of the page are read (`AgeOrder`). Unreadable ones have nothing but their id and the reason. A page may
   * be shorter than `limit` where some are removed meanwhile. Throws RangeError when `after` is no such text.
   * With a `maker` only those of this token, which manages only its own.
   */
  list(
    account: string,
    after: string | null,
    limit: number,
    maker?: string | null,
  ): Promise<SubscriptionPage>;
  /** Whether there is such a subscription and this token made it; it opens nothing sealed. */
  isMadeBy(account: string, id: string, token: string): Promise<boolean>;
  /** The ids of all subscriptions of a token that manages only its own, oldest first. */
  idsMadeBy(account: string, token: string): Promise<string[]>;
}

/** The lists over one connection. */
export function createSubscriptionList(
  redis: RedisClient,
  keys: Keys,
  reads: SubscriptionReads,
): SubscriptionList {
  const ages = createAgeOrder(redis, keys, reads.createdAt);
  return {
    async isMadeBy(account, id, token) {
      const text = await redis.hget(keys.account(account).subscriptions, id);
      return text !== null && makerOf(text) === token;
    },
    idsMadeBy: async (account, token) => (await readMadeBy(redis, keys, account, token)).map(({ id }) => id),
    async list(account, after, limit, maker = null) {
      const place = after === null ? null : placeOf(after);
      const found = await (maker === null
        ? ages.read(account, place, limit + 1)
        : readMadeBy(redis, keys, account, maker, place, limit + 1));
      const page = found.slice(0, limit);
      const texts =
        page.length === 0
          ? []
          : await redis.hmget(keys.account(account).subscriptions, ...page.map(({ id }) => id));
      const last = found.length > limit ? page.at(-1) : undefined;
      // One that was removed meanwhile has no text.
      const there = page.flatMap(({ id }, i) => {
        const text = texts[i] ?? null;
        return text === null ? [] : [{ id, text }];
      });
      const subscriptions: ReadSubscription[] = [];
      // Subscriptions with ten KB each take long to open.
      const turns = takeTurns();
      await turns.next();
      for (const { id, text } of there) {
        if (turns.isOver()) await turns.next();
        subscriptions.push(reads.listed(account, id, text));
      }
      return {
        subscriptions,
        next: last === undefined ? null : ageKey(last),
      };
    },
  };
}

// Up to `count` subscriptions of a token that manages only its own behind a place, or from the first on,
// oldest first. The scripts that add and remove subscriptions keep this order.
async function readMadeBy(
  redis: RedisClient,
  keys: Keys,
  account: string,
  token: string,
  after: AgePlace | null = null,
  count = -1,
): Promise<AgePlace[]> {
  const { byMaker } = keys.account(account);
  const from = after === null ? `[${token} ` : `(${token} ${ageKey(after)}`;
  // The character behind the blank ends the members of the token.
  const found = await redis.zrange(byMaker, from, `(${token}!`, 'BYLEX', 'LIMIT', 0, count);
  return found.map((member) => placeOf(member.slice(token.length + 1)));
}

type Made = Pick<Subscription, 'id' | 'createdAt' | 'createdBy' | 'confined'>;

/** The member of a subscription in the order of its maker; empty for one of no such token. */
export function madeByMember({ id, createdAt, createdBy, confined }: Made): string {
  return confined === true && createdBy != null ? `${createdBy} ${ageKey({ id, createdAt })}` : '';
}

// Garbage has no maker.
function makerOf(text: string): string | null {
  try {
    return (JSON.parse(text) as Made | null)?.createdBy ?? null;
  } catch {
    return null;
  }
}
