import type { RedisClient } from '../../redis/connection/connect.ts';
import { scanHash } from '../../redis/hash-fields.ts';
import type { Keys } from '../../redis/keys.ts';
import { isUnreadable, toUnreadable } from '../../redis/unreadable-record.ts';
import type { OnUnreadable, UnreadableRecordError } from '../../redis/unreadable-record.ts';
import type { Sealer } from '../../secrets/seal.ts';
import { parseDeliveryState, unreadableState } from '../delivery-state.ts';
import type { DeliveryState, Subscription } from '../subscription.ts';
import { parseStored, readSubscription, wantedOf } from './stored-subscription.ts';
import type { ReadSubscription, SubscriptionRecord, Wanted } from './stored-subscription.ts';

// Number of subscriptions that are read at once: each may have ten KB.
const readAtOnce = 100;

/** Reads stored subscriptions, and reports those that cannot be read. */
export interface SubscriptionReads {
  /** With its stored text; null when there is none. Throws UnreadableRecordError. */
  one(account: string, id: string): Promise<(SubscriptionRecord & { readonly text: string }) | null>;
  /** When a stored subscription was created (ms); 0 where it cannot be read. */
  createdAt(account: string, id: string, text: string): number;
  /**
   * The wishes of all of an account, in no order, read in parts. Unreadable ones are reported and left out.
   */
  wanted(account: string): Promise<Wanted[]>;
  /** Those of these subscriptions, by their ids: undefined where one is unreadable, none where it is gone. */
  wantedBy(account: string, ids: readonly string[]): Promise<Map<string, Wanted | undefined>>;
  /**
   * From its stored text; with nothing but its id and the reason when it cannot be read, which is reported.
   */
  listed(account: string, id: string, text: string): ReadSubscription;
  /** One that cannot be read is reported and shows as blocked. */
  delivery(account: string, id: string): Promise<DeliveryState>;
}

/** Reads over one connection. */
export function createSubscriptionReads(
  redis: RedisClient,
  keys: Keys,
  sealer: Sealer,
  onUnreadable: OnUnreadable,
): SubscriptionReads {
  const state = (account: string, id: string) => keys.account(account).subscription(id).state;
  const place = (account: string, id: string) => ({ key: keys.account(account).subscriptions, field: id });

  return {
    createdAt(account, id, text) {
      try {
        return parseStored(text, place(account, id)).createdAt;
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        return 0;
      }
    },
    async one(account, id) {
      const [text, fields] = await Promise.all([
        redis.hget(keys.account(account).subscriptions, id),
        redis.hgetall(state(account, id)),
      ]);
      if (text === null) return null;
      return {
        text,
        ...readSubscription(sealer, account, text, place(account, id)),
        delivery: parseDeliveryState(fields, state(account, id)),
      };
    },
    async wanted(account) {
      // One may come twice while others are added.
      const found = new Map<string, Wanted | UnreadableRecordError>();
      for await (const some of scanHash(redis, keys.account(account).subscriptions, readAtOnce))
        for (const [id, text] of some) found.set(id, wantedOf(text, place(account, id)));
      const wanted: Wanted[] = [];
      for (const each of found.values())
        if (each instanceof Error) onUnreadable(account, each, 'left_out');
        else wanted.push(each);
      return wanted;
    },
    async wantedBy(account, ids) {
      const found = new Map<string, Wanted | undefined>();
      if (ids.length === 0) return found;
      const texts = await redis.hmget(keys.account(account).subscriptions, ...ids);
      for (const [i, id] of ids.entries()) {
        const { [i]: text = null } = texts;
        if (text === null) continue;
        const wanted = wantedOf(text, place(account, id));
        if (wanted instanceof Error) onUnreadable(account, wanted, 'left_out');
        found.set(id, wanted instanceof Error ? undefined : wanted);
      }
      return found;
    },
    listed(account, id, text) {
      try {
        return readSubscription(sealer, account, text, place(account, id));
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        onUnreadable(account, error, 'left_out');
        return { subscription: { ...unknownSubscription, id, account }, unreadable: error };
      }
    },
    async delivery(account, id) {
      const key = state(account, id);
      try {
        return parseDeliveryState(await redis.hgetall(key), key);
      } catch (error) {
        const unreadable = toUnreadable(error);
        if (unreadable === null) throw error;
        onUnreadable(account, unreadable, 'stands');
        return unreadableState(unreadable);
      }
    },
  };
}

// Shown in place of one that cannot be read.
const unknownSubscription: Subscription = {
  id: '',
  account: '',
  url: '',
  eventTypes: [],
  states: null,
  statuses: null,
  description: null,
  headers: {},
  format: 'standard',
  payload: 'full',
  secrets: [],
  createdAt: 0,
  updatedAt: 0,
};
