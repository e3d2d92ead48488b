import { setImmediate as turn } from 'node:timers/promises';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { isUnreadable } from '../../redis/unreadable-record.ts';
import { SealError, type Sealer } from '../../secrets/seal.ts';
import { secretsPlace } from '../../secrets/seal-place.ts';
import { hasPublicKeys } from '../settings/signatures.ts';
import { publicKeysOf, type PublicKey } from '../signing-secret.ts';
import { parseStored } from '../store/stored-subscription.ts';
import { createKeyIndex, type Signed } from './key-index.ts';

/**
 * The public keys that verify callbacks now. They are read out of the sealed private keys each time, so a
 * text that was changed or moved in Redis never becomes a key that receivers trust.
 */
export interface PublishedKeys {
  /**
   * The keys of a subscription, newest first; empty where there is no such subscription, or none with public
   * keys. Throws SealError and UnreadableRecordError.
   */
  of(id: string): Promise<readonly PublicKey[]>;
  /** The keys of the `listedMax` oldest subscriptions that have any; unreadable ones are left out. */
  all(): Promise<readonly PublicKey[]>;
}

/** Maximum number of subscriptions whose keys are listed at once. */
export const listedMax = 1_000;

// Number of subscriptions opened in a row, in a millisecond or two, before the event loop gets its turn.
const openedAtOnce = 50;

/** Reads with the clock `now`, in milliseconds on Redis's clock. */
export function createPublishedKeys(
  redis: RedisClient,
  keys: Keys,
  sealer: Sealer,
  now: () => number,
): PublishedKeys {
  const index = createKeyIndex(redis, keys);

  function open({ account, id }: Pick<Signed, 'account' | 'id'>, text: string): PublicKey[] {
    const place = { key: keys.account(account).subscriptions, field: id };
    const stored = parseStored(text, place);
    if (!hasPublicKeys(stored)) return [];
    const secrets = stored.secrets.map((secret) => ({
      ...secret,
      text: sealer.open(secret.text, secretsPlace(account, id)),
    }));
    return publicKeysOf(secrets, now());
  }

  function openOrNone(signed: Signed, text: string): PublicKey[] {
    try {
      return open(signed, text);
    } catch (error) {
      if (!isUnreadable(error) && !(error instanceof SealError)) throw error;
      return [];
    }
  }

  async function textsOf(signed: readonly Signed[]): Promise<(string | null)[]> {
    const texts = new Map<string, string | null>();
    await Promise.all(
      [...Map.groupBy(signed, ({ account }) => account)].map(async ([account, own]) => {
        const found = await redis.hmget(keys.account(account).subscriptions, ...own.map(({ id }) => id));
        own.forEach(({ id }, i) => texts.set(id, found[i] ?? null));
      }),
    );
    return signed.map(({ id }) => texts.get(id) ?? null);
  }

  return {
    async of(id) {
      const [account = null] = await index.accountsOf([id]);
      if (account === null) return [];
      const text = await redis.hget(keys.account(account).subscriptions, id);
      return text === null ? [] : open({ account, id }, text);
    },
    async all() {
      const signed = await index.oldest(listedMax);
      const texts = await textsOf(signed);
      const found: PublicKey[] = [];
      for (const [i, each] of signed.entries()) {
        if (i % openedAtOnce === openedAtOnce - 1) await turn();
        const text = texts[i] ?? null;
        if (text !== null) found.push(...openOrNone(each, text));
      }
      return found;
    },
  };
}
