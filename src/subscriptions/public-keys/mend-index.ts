import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { isUnreadable, toUnreadable } from '../../redis/unreadable-record.ts';
import { isGone } from '../is-gone.ts';
import { hasPublicKeys } from '../settings/signatures.ts';
import { parseStored } from '../store/stored-subscription.ts';
import { createKeyIndex, type Signed } from './key-index.ts';

/**
 * Makes the index of subscriptions with public keys agree with the subscriptions. Several processes may do it
 * at once, and a crash leaves less to be done. Both return the number of changes.
 */
export interface IndexMender {
  /** Adds the subscriptions of an account that the index lost when a part of Redis was set back. */
  addMissing(account: string): Promise<number>;
  /** Removes those that were removed with their account. Reads the index, and no subscription. */
  removeGone(): Promise<number>;
}

// Number of fields that are read at once; a subscription may have ten KB.
const readAtOnce = 50;
// Milliseconds after which an entry without its subscription is removed: a registration that began before has
// ended by then.
const staleMs = 600_000;

/** Mends over one connection, with the clock `now` in milliseconds on Redis's clock. */
export function createIndexMender(redis: RedisClient, keys: Keys, now: () => number): IndexMender {
  const index = createKeyIndex(redis, keys);
  return {
    async addMissing(account) {
      let added = 0;
      for await (const pairs of scanHash(redis, keys.account(account).subscriptions)) {
        const signed = pairs.flatMap(([id, text]) => signedOf(account, id, text));
        const known = await index.accountsOf(signed.map(({ id }) => id));
        const missing = signed.filter((_, i) => known[i] !== account);
        for (const each of missing) await index.add(each);
        added += missing.length;
      }
      return added;
    },
    async removeGone() {
      let removed = 0;
      for await (const pairs of scanHash(redis, keys.signed.accounts)) {
        const areGone = await Promise.all(pairs.map(([id, account]) => isGone(redis, keys, account, id)));
        const gone = pairs.flatMap(([id], i) => (areGone[i] === true ? [id] : []));
        const ages = await Promise.all(gone.map((id) => redis.zscore(keys.signed.ages, id)));
        const stale = gone.filter((_, i) => Number(ages[i] ?? 0) < now() - staleMs);
        await index.remove(stale);
        removed += stale.length;
      }
      return removed;
    },
  };
}

function signedOf(account: string, id: string, text: string): Signed[] {
  // Most have no public keys: their text is not parsed.
  if (!text.includes('"v1a"')) return [];
  try {
    const stored = parseStored(text, { key: '', field: id });
    return hasPublicKeys(stored) ? [{ account, id, createdAt: stored.createdAt }] : [];
  } catch (error) {
    // The part that works with it reports it.
    if (!isUnreadable(error)) throw error;
    return [];
  }
}

// Pairs of field and value. A hash of another type has none: the part that works with it reports it.
async function* scanHash(redis: RedisClient, key: string): AsyncGenerator<[string, string][]> {
  let cursor = '0';
  do {
    const [next, flat] = await redis
      .hscan(key, cursor, 'COUNT', readAtOnce)
      .catch((error: unknown): [string, string[]] => {
        if (toUnreadable(error) === null) throw error;
        return ['0', []];
      });
    const pairs: [string, string][] = [];
    for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([flat[i] ?? '', flat[i + 1] ?? '']);
    if (pairs.length > 0) yield pairs;
    cursor = next;
  } while (cursor !== '0');
}
