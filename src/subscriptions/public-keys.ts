import { setImmediate as turn } from 'node:timers/promises';
import type { RedisClient } from '../redis/connection/connect.ts';
import { scanHash } from '../redis/hash-fields.ts';
import type { Keys } from '../redis/keys.ts';
import { isUnreadable } from '../redis/unreadable-record.ts';
import { SealError } from '../secrets/seal.ts';
import { hasPublicKeys, publicKeysOf, type PublicKey } from './signing-secret.ts';
import { parseStored } from './store/stored-subscription.ts';
import type { SubscriptionReads } from './store/subscription-reads.ts';
import type { Subscription } from './subscription.ts';

/**
 * Which subscriptions have public keys, over all accounts: receivers ask for keys without naming an account.
 * It holds no key, and nothing is lost with it but the way to a subscription. An entry may outlive its
 * subscription or stand before it, after a crash. In Redis: accounts by subscription, and subscriptions by
 * age.
 */
export function createKeyIndex(redis: RedisClient, keys: Keys) {
  const { accounts, ages } = keys.signed;
  return {
    /** Once it resolves, the keys of the subscription are found; nothing for one without any. */
    async add(signed: Pick<Subscription, 'account' | 'id' | 'createdAt' | 'signatures'>) {
      if (!hasPublicKeys(signed)) return;
      const { account, id, createdAt } = signed;
      await Promise.all([redis.hset(accounts, id, account), redis.zadd(ages, createdAt, id)]);
    },
    /** Removes a subscription; one that is unknown is passed over. */
    async remove(id: string) {
      await Promise.all([redis.hdel(accounts, id), redis.zrem(ages, id)]);
    },
  };
}

/** Maximum number of subscriptions whose keys are listed at once. */
export const listedMax = 1_000;

// Number of subscriptions that are read at once; each may have ten KB.
const atOnce = 50;
// Milliseconds after which an entry without its subscription is removed: a registration that began before has
// ended by then.
const staleMs = 600_000;

/**
 * The public keys that verify callbacks now, by the clock `now` in milliseconds. They are read out of the
 * sealed private keys each time, so a text that was changed or moved in Redis never becomes a key that
 * receivers trust.
 */
export function createPublishedKeys(
  redis: RedisClient,
  keys: Keys,
  subscriptions: Pick<SubscriptionReads, 'get'>,
  now: () => number,
) {
  const { accounts, ages } = keys.signed;
  const index = createKeyIndex(redis, keys);

  async function of(id: string): Promise<PublicKey[]> {
    const account = await redis.hget(accounts, id);
    if (account === null) return [];
    const found = await subscriptions.get(account, id);
    if (found === null) {
      if (Number((await redis.zscore(ages, id)) ?? 0) < now() - staleMs) await index.remove(id);
      return [];
    }
    if (!hasPublicKeys(found.subscription)) return [];
    if (found.unreadable !== null) throw found.unreadable;
    return publicKeysOf(found.subscription.secrets, now());
  }

  const ofOrNone = (id: string) =>
    of(id).catch((error: unknown): PublicKey[] => {
      if (!isUnreadable(error) && !(error instanceof SealError)) throw error;
      return [];
    });

  return {
    /**
     * The keys of a subscription, newest first; empty if there is no such subscription or it has no public
     * keys. Throws SealError and UnreadableRecordError.
     */
    of,
    /** The keys of the `listedMax` oldest subscriptions that have any; unreadable ones are left out. */
    async all(): Promise<readonly PublicKey[]> {
      const ids = await redis.zrange(ages, '0', String(listedMax - 1));
      const found: PublicKey[] = [];
      for (let from = 0; from < ids.length; from += atOnce) {
        found.push(...(await Promise.all(ids.slice(from, from + atOnce).map(ofOrNone))).flat());
        await turn();
      }
      return found;
    },
    /** Adds the subscriptions of an account that the index lost when a part of Redis was set back. */
    async mend(account: string) {
      const key = keys.account(account).subscriptions;
      for await (const some of scanHash(redis, key, atOnce))
        for (const [id, text] of some) {
          // Most have no public keys: their text is not parsed.
          if (text.includes('"v1a"') && (await redis.hget(accounts, id)) !== account)
            await index.add({ ...parseStored(text, { key, field: id }), id, account });
        }
    },
  };
}
