import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { replaceField, scanReadableHash } from '../../redis/hash-fields.ts';
import { escapeGlob, scanKeys } from '../../redis/scan-keys.ts';
import { readOrLeaveOut, unlessUnreadable } from '../../redis/unreadable-record.ts';
import { defineScript } from '../../redis/scripts.ts';
import { privateSettingsPlace, registrationPlace } from '../../secrets/seal-place.ts';
import { keyIdOf } from '../../secrets/seal.ts';
import type { SealedRecord } from '../../secrets/stored-secrets.ts';
import { parseStored } from './stored-subscription.ts';

// KEYS 1 a string. ARGV expected value, new value. Replies 1, or 0 when it is no longer the expected one. It
// lives as long as before.
const replaceText = defineScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1`);

// Number of subscriptions that are read at once: each may have ten KB.
const readAtOnce = 50;

/**
 * The sealed texts of these accounts' subscriptions, and those that are remembered with an idempotency key.
 * They are read while they are taken, some at a time; one that comes twice is possible while others are
 * added. Replacing them changes no setting: running drains go on undisturbed.
 */
export async function* listSealedSubscriptions(
  redis: RedisClient,
  keys: Keys,
  accounts: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<SealedRecord> {
  for await (const account of accounts) yield* listOfAccount(redis, keys, account);
  const pattern = `${escapeGlob(keys.prefix)}:{*}:idempotency:*`;
  for await (const found of scanKeys(redis, pattern))
    yield* (await Promise.all(found.keys.map((key) => readRemembered(redis, key)))).flat();
}

const unreported = () => undefined;

async function* listOfAccount(redis: RedisClient, keys: Keys, account: string): AsyncGenerator<SealedRecord> {
  const key = keys.account(account).subscriptions;
  // An unreadable key holds nothing that could be sealed anew.
  for await (const some of scanReadableHash(redis, key, readAtOnce))
    for (const [id, text] of some)
      yield* readOrLeaveOut(account, unreported, () => {
        const stored = parseStored(text, { key, field: id });
        const place = privateSettingsPlace(account, id, stored.url);
        return {
          texts: [{ text: stored.privateSettings, place }],
          replace: ([privateSettings = stored.privateSettings]) => {
            const value = JSON.stringify({ ...stored, privateSettings });
            return replaceField(redis, key, id, { expected: text, value });
          },
        } satisfies SealedRecord;
      });
}

async function readRemembered(redis: RedisClient, key: string): Promise<SealedRecord[]> {
  const [, account, digest] = /^[^{]*\{([^{}]+)\}:idempotency:(.+)$/.exec(key) ?? [];
  const text = await unlessUnreadable(() => redis.get(key));
  if (account === undefined || digest === undefined || text === null) return [];
  // Another text than a seal holds no secret.
  if (keyIdOf(text) === '') return [];
  const place = registrationPlace(account, digest);
  const replace = async ([sealed = text]: readonly string[]) =>
    (await replaceText.run(redis, [key], [text, sealed])) === 1;
  return [{ texts: [{ text, place }], replace }];
}
