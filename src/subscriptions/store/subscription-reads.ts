import { orNull } from '../../json/or-null.ts';
import { takeTurns } from '../../json/turns.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { isUnreadable, readOrLeaveOut, toUnreadable } from '../../redis/unreadable-record.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import type { Sealer } from '../../secrets/seal.ts';
import { parseDeliveryState, readLevel, unreadableState, withLevel } from '../delivery-state.ts';
import { coversRejections } from '../matches-event.ts';
import type { DeliveryState, Subscription } from '../subscription.ts';
import { readSubscription, wantedOf } from './stored-subscription.ts';
import type { ReadSubscription, SubscriptionRecord, Wanted } from './stored-subscription.ts';

/** A page of subscriptions; `next` is null at the end of the list. */
export interface SubscriptionPage {
  readonly records: SubscriptionRecord[];
  readonly next: string | null;
}

/** Reads stored subscriptions, and reports those that cannot be read. */
export type SubscriptionReads = ReturnType<typeof createSubscriptionReads>;

// Number of subscriptions that a search reads at a time.
const readAtOnce = 100;

/** Reads over one connection. */
export function createSubscriptionReads(
  redis: RedisClient,
  keys: Keys,
  sealer: Sealer,
  onUnreadable: OnUnreadable = () => undefined,
) {
  const textsOf = async (account: string, ids: readonly string[]) =>
    ids.length === 0 ? [] : redis.hmget(keys.account(account).subscriptions, ...ids);
  const place = (account: string, id: string) => ({ key: keys.account(account).subscriptions, field: id });

  // The texts of the order behind one of them, or from the first on; -1 for all.
  async function readOrder(account: string, maker: string, after: string | null, count: number) {
    const from = after === null ? `[${maker} ` : `(${maker} ${after}`;
    const { order } = keys.account(account);
    // The character behind the blank ends the members of this maker.
    const found = await redis.zrange(order, from, `(${maker}!`, 'BYLEX', 'LIMIT', 0, count);
    return found.map((member) => member.slice(maker.length + 1));
  }

  const filterOf = (account: string, id: string, text: string): Wanted | undefined =>
    readOrLeaveOut(account, onUnreadable, () => wantedOf(text, place(account, id)))[0];

  function listed(account: string, id: string, text: string): ReadSubscription {
    try {
      return readSubscription(sealer, account, text, place(account, id));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      onUnreadable(account, error, 'left_out');
      return { subscription: { ...unknownSubscription, id, account }, unreadable: error };
    }
  }

  async function delivery(account: string, id: string): Promise<DeliveryState> {
    const key = keys.account(account).subscription(id).state;
    try {
      return parseDeliveryState(await redis.hgetall(key), key);
    } catch (error) {
      const unreadable = toUnreadable(error);
      if (unreadable === null) throw error;
      onUnreadable(account, unreadable, 'stands');
      return unreadableState(unreadable);
    }
  }

  async function deliveries(account: string, ids: readonly string[]): Promise<DeliveryState[]> {
    if (ids.length === 0) return [];
    const level = readLevel(redis, keys, account);
    const states = ids.map((id) => delivery(account, id));
    return Promise.all(states.map(async (each) => withLevel(await each, await level)));
  }

  async function filtersOf(account: string, ids: readonly string[]) {
    const texts = await textsOf(account, ids);
    return new Map(
      ids.flatMap((id, i) => {
        const text = texts[i] ?? null;
        return text === null ? [] : [[id, filterOf(account, id, text)] as const];
      }),
    );
  }

  return {
    /**
     * With its settings as stored, or null if there is no such subscription. Throws UnreadableRecordError.
     */
    async get(account: string, id: string): Promise<(SubscriptionRecord & { readonly text: string }) | null> {
      const { state } = keys.account(account).subscription(id);
      const [level, [text = null], fields] = await Promise.all([
        readLevel(redis, keys, account),
        textsOf(account, [id]),
        redis.hgetall(state),
      ]);
      if (text === null) return null;
      const read = readSubscription(sealer, account, text, place(account, id));
      return { text, ...read, delivery: withLevel(parseDeliveryState(fields, state), level) };
    },
    /**
     * A page of an account's subscriptions with their delivery states, oldest first; `after` is the `next` of
     * the previous page. Only subscriptions of the page are read. Unreadable ones have only their id and the
     * reason. A page may be shorter than `limit` if some are removed during the call. Throws RangeError if
     * `after` is no such text. A `maker` limits the list to this token, which manages only its own.
     */
    async list(
      account: string,
      after: string | null,
      limit: number,
      maker: string | null = null,
    ): Promise<SubscriptionPage> {
      if (after !== null && !ageKeyPattern.test(after))
        throw new RangeError('not a place in the list of subscriptions');
      const found = await readOrder(account, maker ?? '', after, limit + 1);
      const page = found.slice(0, limit);
      const texts = await textsOf(account, page.map(idOf));
      const subscriptions: ReadSubscription[] = [];
      // Subscriptions with ten KB each take long to open.
      const turns = takeTurns();
      await turns.next();
      for (const [i, ageKey] of page.entries()) {
        if (turns.isOver()) await turns.next();
        const text = texts[i] ?? null;
        // One that was removed in between has no text.
        if (text !== null) subscriptions.push(listed(account, idOf(ageKey), text));
      }
      const ids = subscriptions.map(({ subscription: { id } }) => id);
      const states = await deliveries(account, ids);
      const records = subscriptions.map((read, i) => ({
        ...read,
        delivery: states[i] ?? parseDeliveryState({}),
      }));
      return { records, next: found.length > limit ? (page.at(-1) ?? null) : null };
    },
    /** Whether there is such a subscription and this token made it; it opens nothing sealed. */
    async isMadeBy(account: string, id: string, token: string): Promise<boolean> {
      const [text = null] = await textsOf(account, [id]);
      return text !== null && makerOf(text) === token;
    },
    /** The ids of all subscriptions of a token that manages only its own, oldest first. */
    idsMadeBy: async (account: string, token: string): Promise<string[]> =>
      (await readOrder(account, token, null, -1)).map(idOf),
    /** The ids of all subscriptions of an account, in no order. */
    ids: (account: string): Promise<string[]> => redis.hkeys(keys.account(account).subscriptions),
    /**
     * The filters of these subscriptions by id; secrets stay sealed. Undefined for an unreadable one, which
     * is reported; removed ones are missing.
     */
    filtersOf,
    /**
     * Delivery states of these subscriptions, in their order; one that cannot be read is reported and shows
     * as blocked.
     */
    deliveries,
    /** Whether a subscription that is enabled covers REJECTED, see `coversRejections`. */
    async coversRejections(account: string): Promise<boolean> {
      for (let after: string | null = null; ;) {
        const found = await readOrder(account, '', after, readAtOnce);
        const filters = await filtersOf(account, found.map(idOf));
        const covering = [...filters].flatMap(([id, wanted]) =>
          wanted !== undefined && coversRejections(wanted) ? [id] : [],
        );
        if ((await deliveries(account, covering)).some(({ enabled }) => enabled)) return true;
        if (found.length < readAtOnce) return false;
        after = found.at(-1) ?? null;
      }
    },
  };
}

/**
 * The members of a subscription in its account's order, which sort by age and then by id: one among all, and
 * one among its token's subscriptions, which is empty unless the token manages only its own.
 * remove-subscription.lua builds them too.
 */
export function orderMembers(
  made: Pick<Subscription, 'id' | 'createdAt' | 'createdBy' | 'confined'>,
): readonly [ofAll: string, ofMaker: string] {
  const { id, createdAt, createdBy, confined } = made;
  const ageKey = `${String(createdAt).padStart(15, '0')} ${id}`;
  return [` ${ageKey}`, confined === true && createdBy != null ? `${createdBy} ${ageKey}` : ''];
}

const ageKeyPattern = /^\d{15} [^]+$/;

function idOf(ageKey: string): string {
  return ageKey.slice(ageKey.indexOf(' ') + 1);
}

// Garbage has no maker.
function makerOf(text: string): string | null {
  return orNull(() => (JSON.parse(text) as Pick<Subscription, 'createdBy'> | null)?.createdBy ?? null);
}

// Shown in place of one that cannot be read.
const unknownSubscription: Omit<Subscription, 'id' | 'account'> = {
  url: '',
  eventTypes: [],
  states: null,
  description: null,
  headers: {},
  format: 'standard',
  payload: 'full',
  secrets: [],
  createdAt: 0,
  updatedAt: 0,
};
