import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { isUnreadable, toUnreadable } from '../../redis/unreadable-record.ts';
import type { OnUnreadable, Remedy } from '../../redis/unreadable-record.ts';
import type { Sealer } from '../../secrets/seal.ts';
import { parseDeliveryState } from '../delivery-state.ts';
import type { DeliveryState, Subscription } from '../subscription.ts';
import { parseStored, readSubscription } from './stored-subscription.ts';
import type { ReadSubscription, StoredSubscription, SubscriptionRecord } from './stored-subscription.ts';

/** A subscription's stored text with its content, or the reason why it cannot be read. */
export interface ListedText {
  readonly id: string;
  readonly text: string;
  readonly stored: StoredSubscription | Error;
}

/** Reads stored subscriptions, and reports those that cannot be read. */
export interface SubscriptionReads {
  /** With its stored text; null when there is none. Throws NewerFormatError and UnreadableRecordError. */
  one(account: string, id: string): Promise<(SubscriptionRecord & { readonly text: string }) | null>;
  /** When a stored subscription was created (ms); 0 where it cannot be read. */
  createdAt(account: string, id: string, text: string): number;
  /** All of an account, unopened and in no order. Unreadable ones are reported. */
  all(account: string): Promise<ListedText[]>;
  /** These of an account, unopened, by their ids; gone ones are left out. Unreadable ones are reported. */
  some(account: string, ids: readonly string[]): Promise<Map<string, ListedText>>;
  /**
   * From its stored text; with nothing but its id and the reason when it cannot be read, which is reported.
   */
  listed(account: string, id: string, text: string): ReadSubscription;
  /** Undefined when it cannot be read. */
  delivery(account: string, id: string): Promise<DeliveryState | undefined>;
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
  function report(account: string, id: string, { name, message: reason }: Error): void {
    const remedy: Remedy = name === 'NewerFormatError' ? 'stands' : 'left_out';
    onUnreadable({ account, kind: 'subscriptions', ...place(account, id), reason, remedy });
  }

  function parse(account: string, id: string, text: string): ListedText {
    try {
      return { id, text, stored: parseStored(text, place(account, id)) };
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return { id, text, stored: error };
    }
  }

  function list(account: string, id: string, text: string): ListedText {
    const listed = parse(account, id, text);
    if (listed.stored instanceof Error) report(account, id, listed.stored);
    return listed;
  }

  return {
    createdAt(account, id, text) {
      const { stored } = parse(account, id, text);
      return stored instanceof Error ? 0 : stored.createdAt;
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
    async all(account) {
      const texts = await redis.hgetall(keys.account(account).subscriptions);
      return Object.entries<string>(texts).map(([id, text]) => list(account, id, text));
    },
    async some(account, ids) {
      const found = new Map<string, ListedText>();
      if (ids.length === 0) return found;
      const texts = await redis.hmget(keys.account(account).subscriptions, ...ids);
      for (const [i, id] of ids.entries()) {
        const { [i]: text = null } = texts;
        if (text !== null) found.set(id, list(account, id, text));
      }
      return found;
    },
    listed(account, id, text) {
      try {
        return readSubscription(sealer, account, text, place(account, id));
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        report(account, id, error);
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
        const where = 'key' in unreadable ? unreadable : { key, field: null };
        const reason = unreadable.message;
        onUnreadable({ account, kind: 'sub', key: where.key, field: where.field, reason, remedy: 'stands' });
        return undefined;
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
