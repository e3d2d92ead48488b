import { hash } from 'node:crypto';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { committing, loadScript } from '../redis/scripts.ts';
import type { Sealer } from '../secrets/seal.ts';
import { parseDeliveryState } from './delivery-state.ts';
import { decodeRecord, isUnreadable, parseShaped, toUnreadable } from '../redis/unreadable-record.ts';
import type { OnUnreadable, Remedy } from '../redis/unreadable-record.ts';
import { openSubscription, parseStored, readSubscription, sealSubscription } from './stored-subscription.ts';
import type { ReadSubscription, StoredSubscription } from './stored-subscription.ts';
import type { DeliveryState, Subscription } from './subscription.ts';

/** As many subscriptions an account may have. */
export const subscriptionsMax = 20_000;

/** Settings and delivery state of one subscription, read together. */
export interface SubscriptionRecord extends ReadSubscription {
  readonly delivery: DeliveryState;
}

/** A page of subscriptions; `next` is null at the end of the list. */
export interface SubscriptionPage {
  readonly subscriptions: ReadSubscription[];
  readonly next: string | null;
}

/** What became of a registration. */
export type CreateResult =
  | { readonly kind: 'created' | 'replayed'; readonly subscription: Subscription }
  | { readonly kind: 'key_reused' } // the idempotency key came before with another request
  | { readonly kind: 'gone' } // the account was removed meanwhile
  | { readonly kind: 'full' }; // the account has as many as it may have

/** What a change of a subscription writes beside its settings. */
export interface SubscriptionChange {
  readonly subscription: Subscription;
  /** Undefined leaves it as it is. */
  readonly enabled?: boolean;
  /**
   * Forget how the endpoint did, and try everything that waits at once: after enabling, or when it may answer
   * otherwise now.
   */
  readonly release: boolean;
}

/** The subscriptions of all accounts. */
export interface SubscriptionStore {
  /** Registers it with its cursor where `from` says; atomic, once per idempotency key. */
  create(
    subscription: Subscription,
    idempotency: { key: string; request: string } | null,
  ): Promise<CreateResult>;
  /** Null when there is none. Throws NewerFormatError and UnreadableRecordError. */
  get(account: string, id: string): Promise<SubscriptionRecord | null>;
  /**
   * A page of an account's, oldest first; `after` is the `next` of the page before. Only those of the page
   * are opened. Those that cannot be read come first, with nothing but their id and the reason.
   */
  list(account: string, after: string | null, limit: number): Promise<SubscriptionPage>;
  /**
   * What the subscriptions of an account ask for, without opening their secrets; in no order. Those that
   * cannot be read are reported and left out.
   */
  filters(account: string): Promise<Pick<Subscription, 'id' | 'eventTypes' | 'states'>[]>;
  /**
   * Until when subscriptions rest, in milliseconds; Infinity while disabled. Those not in it, or only until
   * now, may be called.
   */
  resting(account: string): Promise<ReadonlyMap<string, number>>;
  /**
   * Delivery states of these subscriptions, in their order; undefined where one cannot be read: the next
   * drain mends it.
   */
  deliveries(account: string, ids: readonly string[]): Promise<(DeliveryState | undefined)[]>;
  /**
   * Applies a change to what is stored, again if somebody else changed it meanwhile; null when there is none.
   * Secrets and headers that could not be read stay sealed as they are, until the change sets others. A block
   * ends with any change. Throws NewerFormatError and UnreadableRecordError.
   */
  update(
    account: string,
    id: string,
    change: (record: SubscriptionRecord) => SubscriptionChange,
  ): Promise<SubscriptionRecord | null>;
  /**
   * Removes it with its state, lanes, attempts, dead letters and replays; false when there is none. A running
   * drain stops.
   */
  remove(account: string, id: string): Promise<boolean>;
}

const idempotencyMs = 24 * 3_600_000;

/** Subscriptions in Redis, signing secrets and custom headers sealed. */
export function createSubscriptionStore(
  redis: RedisClient,
  keys: Keys,
  sealer: Sealer,
  onUnreadable: OnUnreadable = () => undefined,
): SubscriptionStore {
  const createScript = committing(loadScript(new URL('create-subscription.lua', import.meta.url)));
  const updateScript = committing(loadScript(new URL('update-subscription.lua', import.meta.url)));
  const state = (account: string, id: string) => keys.account(account).subscription(id).state;

  async function read(account: string, id: string): Promise<(SubscriptionRecord & { text: string }) | null> {
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
  }

  const place = (account: string, id: string) => ({ key: keys.account(account).subscriptions, field: id });

  function report(account: string, kind: string, remedy: Remedy, error: unknown): void {
    if (!isUnreadable(error)) throw error;
    const { key, field } = 'key' in error ? error : place(account, '');
    onUnreadable({ account, kind, key, field, reason: error.message, remedy });
  }

  // What can be read of each, and why the others cannot.
  async function readAll(
    account: string,
  ): Promise<{ id: string; text: string; stored: StoredSubscription | Error }[]> {
    const all = await redis.hgetall(keys.account(account).subscriptions);
    return Object.entries<string>(all).map(([id, text]) => {
      try {
        return { id, text, stored: parseStored(text, place(account, id)) };
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        const { name, message: reason } = error;
        const remedy: Remedy = name === 'NewerFormatError' ? 'stands' : 'left_out';
        onUnreadable({ account, kind: 'subscriptions', ...place(account, id), reason, remedy });
        return { id, text, stored: error };
      }
    });
  }

  function readListed(account: string, id: string, text: string): ReadSubscription {
    try {
      return readSubscription(sealer, account, text, place(account, id));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return { subscription: { ...unknownSubscription, id, account }, unreadable: error };
    }
  }

  async function readDelivery(account: string, id: string): Promise<DeliveryState | undefined> {
    const key = state(account, id);
    try {
      return parseDeliveryState(await redis.hgetall(key), key);
    } catch (error) {
      const unreadable = toUnreadable(error);
      if (unreadable === null) throw error;
      report(account, 'sub', 'stands', unreadable);
      return undefined;
    }
  }

  return {
    async create(subscription, idempotency) {
      const { account, id, from = 'now' } = subscription;
      const key = keys.account(account);
      const text = sealSubscription(sealer, subscription);
      const request = idempotency === null ? '' : hash('sha256', idempotency.request);
      const remembered = key.idempotency(hash('sha256', idempotency?.key ?? ''));
      const record = idempotency === null ? '' : JSON.stringify({ request, subscription: text });
      const first = await createScript.run(
        redis,
        [key.subscriptions, state(account, id), key.head, remembered, key.events, key.incarnation],
        [id, text, from, record, String(idempotencyMs), String(subscriptionsMax)],
      );
      if (first === '') return { kind: 'created', subscription };
      if (first === 'gone' || first === 'full') return { kind: first };
      const earlier = decodeRecord(remembered, null, String(first), (json) =>
        parseShaped<{ request: string; subscription: string }>(json, {
          request: 'string',
          subscription: 'string',
        }),
      );
      if (earlier.request !== request) return { kind: 'key_reused' };
      return { kind: 'replayed', subscription: openSubscription(sealer, account, earlier.subscription) };
    },
    get: read,
    async list(account, after, limit) {
      const following = (await readAll(account))
        .map(({ id, text, stored }) => ({
          id,
          text,
          age: ageKey(stored instanceof Error ? { id, createdAt: 0 } : stored),
        }))
        .filter(({ age }) => after === null || age > after)
        .toSorted((a, b) => (a.age < b.age ? -1 : 1));
      const page = following.slice(0, limit);
      return {
        subscriptions: page.map(({ id, text }) => readListed(account, id, text)),
        next: following.length > limit ? (page.at(-1)?.age ?? null) : null,
      };
    },
    async filters(account) {
      const key = keys.account(account).subscriptions;
      try {
        return (await redis.hvals(key)).map((text) => parseStored(text, { key, field: null }));
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        return (await readAll(account)).flatMap(({ stored }) => (stored instanceof Error ? [] : [stored]));
      }
    },
    async resting(account) {
      const all = await redis.hgetall(keys.account(account).resting);
      // What is no number is believed to rest no longer: a drain finds out.
      const until = (text: string) => (text === 'disabled' ? Infinity : Number(text) || 0);
      return new Map(Object.entries<string>(all).map(([id, text]) => [id, until(text)]));
    },
    async deliveries(account, ids) {
      return Promise.all(ids.map((id) => readDelivery(account, id)));
    },
    async update(account, id, change) {
      for (;;) {
        const before = await read(account, id);
        if (before === null) return null;
        const { subscription, enabled, release } = change(before);
        const written = await updateScript.run(
          redis,
          [keys.account(account).subscriptions, state(account, id), keys.account(account).resting],
          [
            id,
            before.text,
            sealSubscription(sealer, subscription, before),
            enabled === undefined ? '' : String(Number(enabled)),
            enabled === false ? 'by request' : '',
            release ? '1' : '',
          ],
        );
        if (written === 1) return read(account, id);
      }
    },
    async remove(account, id) {
      const key = keys.account(account);
      const own = key.subscription(id);
      const [removed] = await Promise.all([
        redis.hdel(key.subscriptions, id),
        redis.hdel(key.resting, id),
        redis.unlink(own.state, own.lanes, own.attempts, own.dead, own.replays, own.replayLanes),
      ]);
      return removed === 1;
    },
  };
}

// What is shown of one that cannot be read.
const unknownSubscription: Subscription = {
  id: '',
  account: '',
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

// Sorts as text: by age, then by id.
function ageKey({ createdAt, id }: Pick<Subscription, 'createdAt' | 'id'>): string {
  return `${String(createdAt).padStart(15, '0')} ${id}`;
}
