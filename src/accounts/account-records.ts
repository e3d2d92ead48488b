import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';
import { tryParseAccount, type StoredAccount, type Vacancy } from './account.ts';

/** The record of an account as it was read. */
export interface HeldRecord {
  /** Null if there is none. Bytes, because a record that is not valid text can only be compared that way. */
  readonly bytes: Buffer | null;
  /** Null if there is none, and for a vacancy. */
  readonly found: ReturnType<typeof tryParseAccount>;
}

// Writes or removes the record of an account, and lists it.
//
// KEYS   1 accounts  2 names  3 unsound  4 rejecting
// ARGV   1 account  2 '1' = it is expected to have a record, '' = none  3 that record ('' with none)
//        4 the new record ('' = none)
// Reply  1, or 0 with nothing written when it has another record
const writeScript = defineScript(`
local accounts, names, unsound, rejecting = unpack(KEYS)
local account = ARGV[1]
local found = redis.call('HGET', accounts, account)
if (ARGV[2] == '1' and found ~= ARGV[3]) or (ARGV[2] ~= '1' and found) then return 0 end
if ARGV[4] == '' then
  redis.call('HDEL', accounts, account)
  for _, list in ipairs({ names, unsound, rejecting }) do redis.call('ZREM', list, account) end
  return 1
end
redis.call('HSET', accounts, account, ARGV[4])
redis.call('ZADD', names, 0, account)
-- It is unsound until it was looked at; another interval makes it stale at another time.
redis.call('ZADD', unsound, 0, account)
return 1`);

/** The records of accounts in their hash. Each is replaced only if it is still the one that was read. */
export function createAccountRecords(redis: RedisClient, keys: Keys) {
  const { names, unsound, rejecting } = keys.accountLists;
  return {
    async read(account: string): Promise<HeldRecord> {
      const bytes = await redis.hgetBuffer(keys.accounts, account);
      const found = bytes === null ? null : tryParseAccount(keys.accounts, account, bytes.toString());
      return { bytes, found };
    },
    /** Writes this value, or none with null; false when the record is another than `expected` by now. */
    async write(
      account: string,
      expected: Buffer | string | null,
      value: StoredAccount | Vacancy | null,
    ): Promise<boolean> {
      const next = value === null ? '' : JSON.stringify(value);
      const values = [account, expected === null ? '' : '1', expected ?? '', next];
      return (await writeScript.run(redis, [keys.accounts, names, unsound, rejecting], values)) === 1;
    },
  };
}
