import { createBoundedMap } from '../memory/bounded-map.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { OnUnreadable } from '../redis/unreadable-record.ts';
import { partnerKeyPlace } from '../secrets/seal-place.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { AccountRecord, AccountSlice } from './account-slices.ts';
import {
  noneSet,
  parseAccount,
  tryParseAccount,
  type Account,
  type KeyedAccount,
  type StoredAccount,
} from './account.ts';

export interface AccountReadsDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly sealer: Sealer;
  readonly defaults: { readonly pollIntervalMs: number; readonly sweepIntervalMs: number };
  readonly onUnreadable?: OnUnreadable;
}

// Maximum number of accounts that are kept open, so that their polls need not open them each time.
const openedMax = 20_000;

/** Reads accounts over one connection, and reports those that cannot be read. */
export function createAccountReads({
  redis,
  keys,
  sealer,
  defaults,
  onUnreadable = () => undefined,
}: AccountReadsDeps) {
  const toAccount = (account: string, { sealedKey: _sealed, ...stored }: StoredAccount): Account => ({
    ...noneSet,
    ...stored,
    account,
    pollIntervalMs: stored.pollIntervalMs ?? defaults.pollIntervalMs,
    sweepIntervalMs: stored.sweepIntervalMs ?? defaults.sweepIntervalMs,
  });

  const opened = createBoundedMap<string, { readonly text: string; readonly keyed: KeyedAccount }>(openedMax);

  function open(account: string, text: string): KeyedAccount | null {
    const found = parseAccount(keys.accounts, account, text);
    if (found === null) return null;
    const partnerKey = sealer.open(found.sealedKey, partnerKeyPlace(account, found.baseUrl));
    const keyed = { ...toAccount(account, found), partnerKey };
    opened.set(account, { text, keyed });
    return keyed;
  }

  const foundOf = (account: string, text: string) => ({
    account,
    text,
    found: tryParseAccount(keys.accounts, account, text),
  });

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

  return {
    /**
     * About `count` accounts from a place on; '0' is the first. Every account that exists throughout is in
     * some part, one that comes or goes meanwhile may not be, and some may come twice.
     */
    async slice(from: string, count: number): Promise<AccountSlice> {
      const { next, all } = await scan(from, count);
      const records = recordsOf(all);
      const accounts = records.filter((each): each is Account => !('error' in each));
      const leaving = all.flatMap(({ account, text, found }) =>
        found === null ? [{ account, vacancy: text }] : [],
      );
      return { accounts, leaving, unreadable: records.length - accounts.length, next };
    },
    /** Number of records of accounts, with unreadable ones and removals under way. */
    count: () => redis.hlen(keys.accounts),
    /**
     * The accounts whose names follow `after`, by name, with those that cannot be read; at most `limit`. Only
     * they are read.
     */
    async page(after: string, limit: number) {
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
    /** These accounts, in their order. One that does not exist is left out. */
    some: async (given: readonly string[]) => recordsOf(await readSome(given)),
    /** Null when there is no such account. Throws UnreadableRecordError. */
    async get(account: string): Promise<Account | null> {
      const text = await redis.hget(keys.accounts, account);
      const found = text === null ? null : parseAccount(keys.accounts, account, text);
      return found === null ? null : toAccount(account, found);
    },
    /** The account with its key; otherwise as `get`. Throws SealError when the key cannot be opened. */
    async getKeyed(account: string): Promise<KeyedAccount | null> {
      const text = await redis.hget(keys.accounts, account);
      if (text === null) return null;
      const known = opened.get(account);
      return known?.text === text ? known.keyed : open(account, text);
    },
    exists: async (account: string) => (await readSome([account])).some(({ found }) => found !== null),
  };
}
