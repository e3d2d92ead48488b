import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { replaceField, scanHash } from '../redis/hash-fields.ts';
import type { OnUnreadable } from '../redis/unreadable-record.ts';
import type { Sealer } from '../secrets/seal.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';
import { partnerKeyPlace } from '../secrets/seal-place.ts';
import type { SealedRecord } from '../secrets/stored-secrets.ts';
import {
  parseAccount,
  tryParseAccount,
  type Account,
  type AccountPatch,
  type AccountSettings,
  type KeyedAccount,
  type StoredAccount,
} from './account.ts';
import { createAccountChanges } from './account-changes.ts';
import { accountsAtOnce, eachSlice } from './account-slices.ts';
import type { AccountRecord, AccountSlice } from './account-slices.ts';

/**
 * A change would send the stored key to another origin than the one that it was given for; nothing was
 * written.
 */
export class KeyNeededError extends Error {
  override readonly name = 'KeyNeededError';
}

/** The accounts of this deployment. */
export interface AccountStore {
  /**
   * About `count` accounts from a place on; '0' is the first. Every account that exists throughout is in some
   * part, one that comes or goes meanwhile may not be, and some may come twice.
   */
  slice(from: string, count: number): Promise<AccountSlice>;
  /**
   * The accounts whose names follow `after`, by name, with those that cannot be read; at most `limit`. Only
   * they are read.
   */
  page(
    after: string,
    limit: number,
  ): Promise<{ readonly records: readonly AccountRecord[]; readonly hasMore: boolean }>;
  /** These accounts, in their order. One that does not exist is left out. */
  some(names: readonly string[]): Promise<AccountRecord[]>;
  /** Number of records of accounts, with unreadable ones and removals under way. */
  count(): Promise<number>;
  /** Null when there is no such account. Throws UnreadableRecordError. */
  get(account: string): Promise<Account | null>;
  /** The account with its key; otherwise as `get`. Throws SealError when the key cannot be opened. */
  getKeyed(account: string): Promise<KeyedAccount | null>;
  /** The sealed keys of all accounts, read while they are taken, some at a time. */
  sealedRecords(): AsyncIterable<SealedRecord>;
  exists(account: string): Promise<boolean>;
  /**
   * Creates an account or replaces its settings; the known filings stay. A new account takes over nothing
   * from a former account of its name, whose removal is finished first if need be.
   */
  put(account: string, settings: AccountSettings, now: number): Promise<{ created: boolean }>;
  /**
   * Changes some settings in one step; false when there is no such account. Rejects with KeyNeededError when
   * the base address moves to another origin without a key. Throws UnreadableRecordError
   * and SealError.
   */
  patch(account: string, changes: AccountPatch, now: number): Promise<boolean>;
  /**
   * Removes the account and all its keys; false when there was none. From the first step on the account does
   * not exist and nothing is written for it. A crash leaves keys: `finishRemovals` removes them, and so does
   * another `remove` or `put` of the name.
   */
  remove(account: string): Promise<boolean>;
  /** Finishes removals that a crash has interrupted. Harmless to removals under way. */
  finishRemovals(): Promise<void>;
}

export interface AccountStoreDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly sealer: Sealer;
  readonly defaults: { readonly pollIntervalMs: number; readonly sweepIntervalMs: number };
  readonly onUnreadable?: OnUnreadable;
}

// Maximum number of accounts whose opened records are kept.
const openedMax = 20_000;

/** Accounts in one Redis hash, partner keys sealed. */
export function createAccountStore({
  redis,
  keys,
  sealer,
  defaults,
  onUnreadable = () => undefined,
}: AccountStoreDeps): AccountStore {
  const changes = createAccountChanges(redis, keys);
  // Each poll needs the key, and opening it costs more than the rest of the read.
  const opened = createBoundedMap<string, { readonly text: string; readonly keyed: KeyedAccount }>(openedMax);

  const toAccount = (account: string, { sealedKey: _sealed, ...stored }: StoredAccount): Account => ({
    stalledAfter: null,
    ...stored,
    account,
    pollIntervalMs: stored.pollIntervalMs ?? defaults.pollIntervalMs,
    sweepIntervalMs: stored.sweepIntervalMs ?? defaults.sweepIntervalMs,
  });

  const textOf = (account: string) => redis.hget(keys.accounts, account);
  const tryParse = (account: string, text: string) => tryParseAccount(keys.accounts, account, text);

  const find = async (account: string) => {
    const text = await textOf(account);
    return text === null ? null : parseAccount(keys.accounts, account, text);
  };

  const foundOf = (account: string, text: string) => ({ account, text, found: tryParse(account, text) });

  type Found = ReturnType<typeof foundOf>;

  async function readSome(given: readonly string[]): Promise<Found[]> {
    const texts = given.length === 0 ? [] : await redis.hmget(keys.accounts, ...given);
    return given.flatMap((account, i) => {
      const text = texts[i] ?? null;
      return text === null ? [] : [foundOf(account, text)];
    });
  }

  async function scan(from: string, count: number) {
    const [next, flat] = await redis.hscan(keys.accounts, from, 'COUNT', count);
    const all = flat.flatMap((name, i) => (i % 2 === 0 ? foundOf(name, flat[i + 1] ?? '') : []));
    return { next, all };
  }

  // Without those that are removed now.
  function recordsOf(all: readonly Found[]): AccountRecord[] {
    return all.flatMap(({ account, found }): AccountRecord[] => {
      if (found === null) return [];
      if (!(found instanceof Error)) return [toAccount(account, found)];
      onUnreadable(account, found, 'left_out');
      return [{ account, error: found }];
    });
  }

  const store: AccountStore = {
    async slice(from, count) {
      const { next, all } = await scan(from, count);
      const records = recordsOf(all);
      const accounts = records.filter((each): each is Account => !('error' in each));
      const leaving = all.flatMap(({ account, text, found }) =>
        found === null ? [{ account, vacancy: text }] : [],
      );
      return { accounts, leaving, unreadable: records.length - accounts.length, next };
    },
    count: () => redis.hlen(keys.accounts),
    async page(after, limit) {
      const found: Found[] = [];
      for (let from = after; found.length <= limit;) {
        const { names } = keys.accountLists;
        const listed = await redis.zrangebylex(names, `(${from}`, '+', 'LIMIT', 0, limit + 1);
        // The records of removals under way are no accounts.
        found.push(...(await readSome(listed)).filter((each) => each.found !== null));
        if (listed.length <= limit) break;
        from = listed.at(-1) ?? from;
      }
      return { records: recordsOf(found.slice(0, limit)), hasMore: found.length > limit };
    },
    some: async (given) => recordsOf(await readSome(given)),
    async get(account) {
      const found = await find(account);
      return found === null ? null : toAccount(account, found);
    },
    async getKeyed(account) {
      const text = await textOf(account);
      const known = opened.get(account);
      if (known !== undefined && known.text === text) return known.keyed;
      opened.delete(account);
      const found = text === null ? null : parseAccount(keys.accounts, account, text);
      if (text === null || found === null) return null;
      const partnerKey = sealer.open(found.sealedKey, partnerKeyPlace(account, found.baseUrl));
      const keyed = { ...toAccount(account, found), partnerKey };
      opened.set(account, { text, keyed });
      return keyed;
    },
    async *sealedRecords() {
      for await (const some of scanHash(redis, keys.accounts, accountsAtOnce))
        for (const [account, text] of some) {
          const record = tryParse(account, text);
          if (record === null || record instanceof Error) continue;
          yield {
            texts: [{ text: record.sealedKey, place: partnerKeyPlace(account, record.baseUrl) }],
            replace: ([sealedKey = record.sealedKey]) => {
              const value = JSON.stringify({ ...record, sealedKey });
              return replaceField(redis, keys.accounts, account, { expected: text, value });
            },
          };
        }
    },
    async exists(account) {
      const text = await textOf(account);
      return text !== null && tryParse(account, text) !== null;
    },
    async put(account, { partnerKey, ...settings }, now) {
      const sealedKey = sealer.seal(partnerKey, partnerKeyPlace(account, settings.baseUrl));
      return { created: await changes.put(account, { ...settings, sealedKey, updatedAt: now }) };
    },
    patch: (account, { partnerKey, ...given }, now) =>
      changes.update(account, (former) => {
        const baseUrl = given.baseUrl ?? former.baseUrl;
        const moves = new URL(baseUrl).origin !== new URL(former.baseUrl).origin;
        if (moves && partnerKey === undefined)
          throw new KeyNeededError('the key was given for another origin');
        const sealedKey =
          partnerKey === undefined
            ? former.sealedKey
            : sealer.seal(partnerKey, partnerKeyPlace(account, baseUrl));
        return { ...former, ...given, sealedKey, updatedAt: now };
      }),
    remove: changes.remove,
    async finishRemovals() {
      for await (const { leaving } of eachSlice(store.slice))
        for (const { account, vacancy } of leaving) await changes.finishRemoval(account, vacancy);
    },
  };
  return store;
}
