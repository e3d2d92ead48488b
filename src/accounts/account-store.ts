import type { RedisClient } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { replaceField } from '../redis/replace-field.ts';
import { untilReplicated } from '../redis/wait-replicas.ts';
import { escapeGlob, scanKeys } from '../redis/scan-keys.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { SealedRecord } from '../secrets/stored-secrets.ts';

/** A partner account whose filings are watched. */
export interface Account {
  readonly account: string;
  readonly baseUrl: string;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An account with the key that the partner service knows it by. */
export interface KeyedAccount extends Account {
  /** In clear, in memory only; in Redis it is sealed. */
  readonly partnerKey: string;
}

/** What a caller sets of an account; null intervals mean the deployment's defaults. */
export interface AccountSettings {
  readonly baseUrl: string;
  readonly partnerKey: string;
  readonly pollIntervalMs: number | null;
  readonly sweepIntervalMs: number | null;
}

/** Names that an account may have: they stand in keys, paths and metric labels. */
export const accountNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

/** The accounts of this deployment. */
export interface AccountStore {
  /** All of them, by name. */
  list(): Promise<Account[]>;
  /** Null when there is no such account. */
  get(account: string): Promise<Account | null>;
  /** The same with its key. Throws SealError when that cannot be opened. */
  getKeyed(account: string): Promise<KeyedAccount | null>;
  /** The sealed keys of all accounts. */
  sealedRecords(): Promise<SealedRecord[]>;
  exists(account: string): Promise<boolean>;
  /** Creates or replaces the settings; what is known of the filings stays. Returns whether it was new. */
  put(account: string, settings: AccountSettings, now: number): Promise<{ created: boolean }>;
  /**
   * Removes the account and every key of it; false when there was none. The entry goes first, so that a crash leaves
   * no half account that is polled; what is left then goes when the name is deleted or created again.
   */
  remove(account: string): Promise<boolean>;
}

interface StoredAccount {
  readonly v: 1;
  readonly baseUrl: string;
  readonly sealedKey: string;
  readonly pollIntervalMs: number | null;
  readonly sweepIntervalMs: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface AccountStoreDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly sealer: Sealer;
  readonly defaults: { readonly pollIntervalMs: number; readonly sweepIntervalMs: number };
}

/** Accounts in one Redis hash, partner keys sealed. */
export function createAccountStore({ redis, keys, sealer, defaults }: AccountStoreDeps): AccountStore {
  function toAccount(account: string, stored: StoredAccount): Account {
    return {
      account,
      baseUrl: stored.baseUrl,
      pollIntervalMs: stored.pollIntervalMs ?? defaults.pollIntervalMs,
      sweepIntervalMs: stored.sweepIntervalMs ?? defaults.sweepIntervalMs,
      createdAt: stored.createdAt,
      updatedAt: stored.updatedAt,
    };
  }

  const exists = async (account: string) => (await redis.hexists(keys.accounts, account)) === 1;

  // Several may create an account at once. Only one does, and nobody removes what has been written since.
  async function create(account: string, stored: StoredAccount): Promise<boolean> {
    if (await exists(account)) return false;
    await removeKeys(redis, keys.account(account).base, () => exists(account));
    return (await redis.hsetnx(keys.accounts, account, JSON.stringify(stored))) === 1;
  }

  function sealedRecord(account: string, text: string): SealedRecord {
    const stored = parse(text);
    return {
      context: sealContext(account),
      texts: [stored.sealedKey],
      replace([sealedKey = stored.sealedKey]) {
        const value = JSON.stringify({ ...stored, sealedKey });
        return replaceField(redis, keys.accounts, account, { expected: text, value });
      },
    };
  }

  return {
    async list() {
      const all = await redis.hgetall(keys.accounts);
      return Object.entries<string>(all)
        .map(([account, text]) => toAccount(account, parse(text)))
        .toSorted((a, b) => (a.account < b.account ? -1 : 1));
    },
    async get(account) {
      const text = await redis.hget(keys.accounts, account);
      return text === null ? null : toAccount(account, parse(text));
    },
    async getKeyed(account) {
      const text = await redis.hget(keys.accounts, account);
      if (text === null) return null;
      const stored = parse(text);
      const partnerKey = sealer.open(stored.sealedKey, sealContext(account));
      return { ...toAccount(account, stored), partnerKey };
    },
    async sealedRecords() {
      const all = await redis.hgetall(keys.accounts);
      return Object.entries<string>(all).map(([account, text]) => sealedRecord(account, text));
    },
    exists,
    async put(account, settings, now) {
      const { partnerKey, ...rest } = settings;
      const sealedKey = sealer.seal(partnerKey, sealContext(account));
      const stored: StoredAccount = { v: 1, ...rest, sealedKey, createdAt: now, updatedAt: now };
      const created = await create(account, stored);
      if (!created) {
        const text = await redis.hget(keys.accounts, account);
        const { createdAt } = text === null ? stored : parse(text);
        await redis.hset(keys.accounts, account, JSON.stringify({ ...stored, createdAt }));
      }
      await untilReplicated(redis, keys.accounts);
      return { created };
    },
    async remove(account) {
      const removed = await redis.hdel(keys.accounts, account);
      await removeKeys(redis, keys.account(account).base, () => exists(account));
      return removed === 1;
    },
  };
}

function sealContext(account: string): string {
  return `account:${account}`;
}

function parse(text: string): StoredAccount {
  return JSON.parse(text) as StoredAccount;
}

async function removeKeys(
  redis: RedisClient,
  base: string,
  isBackAgain: () => Promise<boolean>,
): Promise<void> {
  for await (const { node, keys } of scanKeys(redis, `${escapeGlob(base)}:*`)) {
    if (await isBackAgain()) return;
    await node.unlink(...keys);
  }
}
