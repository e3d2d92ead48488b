import type { RedisClient } from '../redis/connection/connect.ts';
import { replaceField, scanHash } from '../redis/hash-fields.ts';
import type { Keys } from '../redis/keys.ts';
import { partnerKeyPlace } from '../secrets/seal-place.ts';
import type { SealedRecord } from '../secrets/stored-secrets.ts';
import { accountsAtOnce } from './account-slices.ts';
import { tryParseAccount } from './account.ts';

/** The sealed keys of all accounts, read while they are taken, some at a time. */
export async function* listSealedAccounts(redis: RedisClient, keys: Keys): AsyncGenerator<SealedRecord> {
  for await (const some of scanHash(redis, keys.accounts, accountsAtOnce))
    for (const [account, text] of some) {
      const record = tryParseAccount(keys.accounts, account, text);
      if (record === null || record instanceof Error) continue;
      yield {
        texts: [{ text: record.sealedKey, place: partnerKeyPlace(account, record.baseUrl) }],
        replace: ([sealedKey = record.sealedKey]) => {
          const value = JSON.stringify({ ...record, sealedKey });
          return replaceField(redis, keys.accounts, account, { expected: text, value });
        },
      };
    }
}
