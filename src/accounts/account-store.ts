import type { RedisClient } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { Sealer } from '../secrets/seal.ts';

/** A partner account whose filings are watched. */
export interface Account {
  readonly account: string;
  readonly baseUrl: string;
  /** In clear, in memory only; in Redis it is sealed. */
  readonly partnerKey: string;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
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
  list(): Promise<Account[]>;
  /** Null when there is no such account. Throws SealError when its key cannot be opened. */
  get(account: string): Promise<Account | null>;
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
  function open(account: string, text: string): Account {
    const stored = JSON.parse(text) as StoredAccount;
    return {
      account,
      baseUrl: stored.baseUrl,
      partnerKey: sealer.open(stored.sealedKey, sealContext(account)),
      pollIntervalMs: stored.pollIntervalMs ?? defaults.pollIntervalMs,
      sweepIntervalMs: stored.sweepIntervalMs ?? defaults.sweepIntervalMs,
      createdAt: stored.createdAt,
      updatedAt: stored.updatedAt,
    };
  }

  return {
    async list() {
      const all = await redis.hgetall(keys.accounts);
      return Object.entries<string>(all)
        .map(([account, text]) => open(account, text))
        .toSorted((a, b) => (a.account < b.account ? -1 : 1));
    },
    async get(account) {
      const text = await redis.hget(keys.accounts, account);
      return text === null ? null : open(account, text);
    },
    exists: async (account) => (await redis.hexists(keys.accounts, account)) === 1,
    async put(account, settings, now) {
      const text = await redis.hget(keys.accounts, account);
      const before = text === null ? null : (JSON.parse(text) as StoredAccount);
      if (before === null) await removeKeys(redis, keys.account(account).base);
      const { partnerKey, ...rest } = settings;
      const sealedKey = sealer.seal(partnerKey, sealContext(account));
      const stored: StoredAccount = {
        v: 1,
        ...rest,
        sealedKey,
        createdAt: before?.createdAt ?? now,
        updatedAt: now,
      };
      await redis.hset(keys.accounts, account, JSON.stringify(stored));
      return { created: before === null };
    },
    async remove(account) {
      const removed = await redis.hdel(keys.accounts, account);
      await removeKeys(redis, keys.account(account).base);
      return removed === 1;
    },
  };
}

function sealContext(account: string): string {
  return `account:${account}`;
}

async function removeKeys(redis: RedisClient, base: string): Promise<void> {
  const nodes = 'nodes' in redis ? redis.nodes('master') : [redis];
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, found] = await node.scan(cursor, 'MATCH', `${escapeGlob(base)}:*`, 'COUNT', 1000);
      if (found.length > 0) await node.unlink(...found);
      cursor = next;
    } while (cursor !== '0');
  }
}

function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, String.raw`\$&`);
}
