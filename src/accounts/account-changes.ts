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

  // Writes an account in place of a record that cannot be read; the keys themselves name their incarnation.
  // False: another process was quicker; null: a removal was under way, and nothing may be written to the
  // keys.
  async function overwrite(account: string, settings: PutAccount): Promise<boolean | null> {
    const held = await redis.hgetBuffer(keys.accounts, account);
    if (held === null || !(parse(account, held.toString()) instanceof Error)) return false;
    const incarnation = await incarnations.current(account);
    if (incarnation === null) return null;
    return replace(account, held, { ...settings, incarnation, createdAt: settings.updatedAt });
  }

  // False: another process was quicker.
  async function create(account: string, text: string | null, settings: PutAccount): Promise<boolean> {
    const vacancy = await vacate(account, text);
    if (vacancy === null || !(await empty(account, vacancy))) return false;
    const incarnation = nextOf(vacancy);
    await incarnations.open(account, incarnation);
    return replace(account, vacancy, { ...settings, incarnation, createdAt: settings.updatedAt });
  }

  async function tryPut(account: string, settings: PutAccount): Promise<'created' | 'replaced' | null> {
    const text = await textOf(account);
    const former = text === null ? null : parse(account, text);
    if (former instanceof Error) {
      const isWritten = await overwrite(account, settings);
      if (isWritten !== null) return isWritten ? 'replaced' : null;
    } else if (
      text !== null &&
      former !== null &&
      (await incarnations.isOpen(account, former.incarnation ?? ''))
    )
      return (await replace(account, text, { ...former, ...settings })) ? 'replaced' : null;
    // Also where the keys are another incarnation's: a part of the cluster was set back, and what it holds is
    // of neither.
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
