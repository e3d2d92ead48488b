import { randomUUID } from 'node:crypto';
import type { RedisClient } from '../redis/connection/connect.ts';
import { untilReplicated } from '../redis/connection/wait-replicas.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';
import { createIncarnations } from './incarnations.ts';
import { nextOf, tryParseAccount, type StoredAccount, type Vacancy } from './account.ts';

/** The fields of an account that `put` writes; the others stay as they are, or begin now. */
export type PutAccount = Omit<StoredAccount, 'createdAt' | 'incarnation'>;

/**
 * Creates, replaces and removes accounts. Each step compares with the record that was read; if another
 * process was quicker, everything is read again.
 */
export interface AccountChanges {
  /** True when the account is new; see `AccountStore`. */
  put(account: string, settings: PutAccount): Promise<boolean>;
  /**
   * Changes an account in one step, compared with the record that `change` was given; false when there is
   * none. Rejects with what `change` throws, and with the error of a record that cannot be read.
   */
  update(account: string, change: (former: StoredAccount) => StoredAccount): Promise<boolean>;
  /** False when there was none; see `AccountStore`. */
  remove(account: string): Promise<boolean>;
  /** Removes the remaining keys of an account in whose place this vacancy stands. */
  finishRemoval(account: string, vacancy: string): Promise<void>;
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

/** Changes to the hash of accounts and to their incarnations. */
export function createAccountChanges(redis: RedisClient, keys: Keys): AccountChanges {
  const incarnations = createIncarnations(redis, keys);
  const { names, unsound, rejecting } = keys.accountLists;

  // Writes the record of an account where it still has the one that was read, null for none; with `value`
  // null it is removed. False when it was changed meanwhile.
  async function write(account: string, expected: string | Buffer | null, value: string | null) {
    const values = [account, expected === null ? '' : '1', expected ?? '', value ?? ''];
    const reply = await writeScript.run(redis, [keys.accounts, names, unsound, rejecting], values);
    return reply === 1;
  }

  const textOf = (account: string) => redis.hget(keys.accounts, account);
  const parse = (account: string, text: string) => tryParseAccount(keys.accounts, account, text);
  const replace = (account: string, expected: string | Buffer | null, value: StoredAccount | Vacancy) =>
    write(account, expected, JSON.stringify(value));

  // Returns the record that stands in place of the account from now on, or stood there already; null: another
  // process was quicker.
  async function vacate(account: string, text: string | null): Promise<string | null> {
    const found = text === null ? null : parse(account, text);
    if (text !== null && found === null) return text;
    const vacancy: Vacancy = { next: randomUUID() };
    // Bytes that are not text can only be compared as bytes.
    const held = found instanceof Error ? await redis.hgetBuffer(keys.accounts, account) : text;
    return (await replace(account, held, vacancy)) ? JSON.stringify(vacancy) : null;
  }

  const empty = (account: string, vacancy: string) =>
    incarnations.empty(account, nextOf(vacancy), async () => (await textOf(account)) === vacancy);

  // False: another process was quicker.
  async function create(account: string, text: string | null, settings: PutAccount): Promise<boolean> {
    const vacancy = await vacate(account, text);
    if (vacancy === null || !(await empty(account, vacancy))) return false;
    const incarnation = nextOf(vacancy);
    await incarnations.open(account, incarnation);
    return replace(account, vacancy, { ...settings, incarnation, createdAt: settings.updatedAt });
  }

  // The record to write in place of a former one; null where the account has to be created: a removal was
  // under way, or the keys are another incarnation's. Then a part of the cluster was set back, and what it
  // holds is of neither.
  function successor(former: ReturnType<typeof parse>, owner: string | null, settings: PutAccount) {
    if (former === null || owner === null) return null;
    // In place of a record that cannot be read: the keys themselves name their incarnation.
    if (former instanceof Error) return { ...settings, incarnation: owner, createdAt: settings.updatedAt };
    // An account whose record was written again while its keys named none has no incarnation.
    const isOwner = owner === former.incarnation || owner === '' || former.incarnation === '';
    return isOwner ? { ...former, ...settings } : null;
  }

  async function tryPut(account: string, settings: PutAccount): Promise<'created' | 'replaced' | null> {
    // Bytes that are not text can only be compared as bytes.
    const held = await redis.hgetBuffer(keys.accounts, account);
    const text = held?.toString() ?? null;
    const former = text === null ? null : parse(account, text);
    const next = successor(former, await incarnations.current(account), settings);
    if (next !== null) return (await replace(account, held, next)) ? 'replaced' : null;
    return (await create(account, text, settings)) ? 'created' : null;
  }

  async function finishRemoval(account: string, vacancy: string): Promise<void> {
    if (!(await empty(account, vacancy))) return;
    if (await write(account, vacancy, null)) await incarnations.forget(account, nextOf(vacancy));
  }

  return {
    async put(account, settings) {
      for (;;) {
        const done = await tryPut(account, settings);
        if (done === null) continue;
        await untilReplicated(redis, keys.accounts);
        return done === 'created';
      }
    },
    async update(account, change) {
      for (;;) {
        const text = await textOf(account);
        const former = text === null ? null : parse(account, text);
        if (former instanceof Error) throw former;
        if (text === null || former === null) return false;
        if (!(await replace(account, text, change(former)))) continue;
        await untilReplicated(redis, keys.accounts);
        return true;
      }
    },
    async remove(account) {
      for (;;) {
        const text = await textOf(account);
        if (text === null) return false;
        const vacancy = await vacate(account, text);
        if (vacancy === null) continue;
        await finishRemoval(account, vacancy);
        return vacancy !== text;
      }
    },
    finishRemoval,
  };
}
