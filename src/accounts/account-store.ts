import { randomUUID } from 'node:crypto';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { NewerFormatError } from '../redis/newer-format-error.ts';
import { removeField, replaceField } from '../redis/replace-field.ts';
import { decodeRecord, isShaped, isUnreadable, parseShaped } from '../redis/unreadable-record.ts';
import type { OnUnreadable, UnreadableError } from '../redis/unreadable-record.ts';
import { untilReplicated } from '../redis/connection/wait-replicas.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { SealedRecord } from '../secrets/stored-secrets.ts';
import { createIncarnations } from './incarnations.ts';

/** A partner account whose filings are watched. */
export interface Account {
  readonly account: string;
  /**
   * Drawn when it was created; another one after it was removed and created again. Empty where an older
   * version wrote it.
   */
  readonly incarnation: string;
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

/** An account whose record cannot be read. */
export interface UnreadableAccount {
  readonly account: string;
  readonly error: UnreadableError;
}

/** The accounts of this deployment. */
export interface AccountStore {
  /** All of them that can be read, by name. */
  list(): Promise<Account[]>;
  /** Accounts that cannot be read, by name, and why. `put` mends them, `remove` removes them. */
  unreadable(): Promise<UnreadableAccount[]>;
  /** Null when there is no such account. Throws NewerFormatError and UnreadableRecordError. */
  get(account: string): Promise<Account | null>;
  /** The same with its key. Throws SealError when that cannot be opened. */
  getKeyed(account: string): Promise<KeyedAccount | null>;
  /** The sealed keys of all accounts. */
  sealedRecords(): Promise<SealedRecord[]>;
  exists(account: string): Promise<boolean>;
  /**
   * Creates or replaces the settings; what is known of the filings stays. Returns whether it was new. A new
   * one begins with nothing of a former account of its name, whose removal is finished first if need be.
   */
  put(account: string, settings: AccountSettings, now: number): Promise<{ created: boolean }>;
  /**
   * Removes the account and every key of it; false when there was none. From the first step on there is no
   * such account, and nothing is written for it any more. A crash leaves keys to be removed by
   * `finishRemovals`, or when the name is deleted or created again.
   */
  remove(account: string): Promise<boolean>;
  /** Removes what removals have left that a crash has ended. Harmless to those under way. */
  finishRemovals(): Promise<void>;
}

/** An account, as its field of the hash holds it. */
interface StoredAccount {
  readonly v: 1;
  /** Missing where an older version has created or changed it. */
  readonly incarnation?: string;
  readonly baseUrl: string;
  readonly sealedKey: string;
  readonly pollIntervalMs: number | null;
  readonly sweepIntervalMs: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * In place of an account while its keys are removed, and until the first ones of a new account may be
 * written.
 */
interface Vacancy {
  readonly v: 1;
  /** The incarnation that comes next. */
  readonly next: string;
}

export interface AccountStoreDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly sealer: Sealer;
  readonly defaults: { readonly pollIntervalMs: number; readonly sweepIntervalMs: number };
  readonly onUnreadable?: OnUnreadable;
}

/** Accounts in one Redis hash, partner keys sealed. */
export function createAccountStore({
  redis,
  keys,
  sealer,
  defaults,
  onUnreadable = () => undefined,
}: AccountStoreDeps): AccountStore {
  const incarnations = createIncarnations(redis, keys);

  function toAccount(account: string, stored: StoredAccount): Account {
    return {
      account,
      incarnation: stored.incarnation ?? '',
      baseUrl: stored.baseUrl,
      pollIntervalMs: stored.pollIntervalMs ?? defaults.pollIntervalMs,
      sweepIntervalMs: stored.sweepIntervalMs ?? defaults.sweepIntervalMs,
      createdAt: stored.createdAt,
      updatedAt: stored.updatedAt,
    };
  }

  const textOf = (account: string) => redis.hget(keys.accounts, account);

  async function find(account: string): Promise<StoredAccount | null> {
    const text = await textOf(account);
    return text === null ? null : parse(account, text);
  }

  const parse = (account: string, text: string) => parseAccount(keys.accounts, account, text);

  async function readAll() {
    const all = Object.entries<string>(await redis.hgetall(keys.accounts));
    return all.map(([account, text]) => ({ account, text, found: tryParse(keys.accounts, account, text) }));
  }

  async function allStored(): Promise<{ account: string; text: string; stored: StoredAccount }[]> {
    return (await readAll()).flatMap(({ account, text, found }) => {
      if (!(found instanceof Error)) return found === null ? [] : [{ account, text, stored: found }];
      onUnreadable({
        account,
        kind: 'accounts',
        key: keys.accounts,
        field: account,
        reason: found.message,
        remedy: 'left_out',
      });
      return [];
    });
  }

  const replace = (account: string, expected: string | Buffer, value: string) =>
    replaceField(redis, keys.accounts, account, { expected, value });

  // What stands in place of the account from now on, or stood there already; null: somebody else was quicker.
  async function vacate(account: string, text: string | null): Promise<string | null> {
    const found = text === null ? null : tryParse(keys.accounts, account, text);
    if (text !== null && found === null) return text;
    const vacancy = JSON.stringify({ v: 1, next: randomUUID() } satisfies Vacancy);
    // Bytes that are no text can only be compared as bytes.
    const held = found instanceof Error ? await redis.hgetBuffer(keys.accounts, account) : text;
    const isWritten =
      held === null
        ? (await redis.hsetnx(keys.accounts, account, vacancy)) === 1
        : await replace(account, held, vacancy);
    return isWritten ? vacancy : null;
  }

  // In place of a record that cannot be read: whose keys these are stands with them. False where somebody
  // else was quicker, null where nobody may write to them: then a removal was under way.
  async function overwrite(
    account: string,
    settings: Omit<StoredAccount, 'createdAt' | 'incarnation'>,
  ): Promise<boolean | null> {
    const held = await redis.hgetBuffer(keys.accounts, account);
    if (held === null || !(tryParse(keys.accounts, account, held.toString()) instanceof Error)) return false;
    const incarnation = await incarnations.current(account);
    if (incarnation === null) return null;
    const stored: StoredAccount = { ...settings, incarnation, createdAt: settings.updatedAt };
    return replace(account, held, JSON.stringify(stored));
  }

  const empty = (account: string, vacancy: string) =>
    incarnations.empty(account, nextOf(vacancy), async () => (await textOf(account)) === vacancy);

  async function finishRemoval(account: string, vacancy: string): Promise<void> {
    if (!(await empty(account, vacancy))) return;
    if (await removeField(redis, keys.accounts, account, vacancy))
      await incarnations.forget(account, nextOf(vacancy));
  }

  function sealedRecord(account: string, text: string, record: StoredAccount): SealedRecord {
    return {
      context: sealContext(account),
      texts: [record.sealedKey],
      replace: ([sealedKey = record.sealedKey]) =>
        replace(account, text, JSON.stringify({ ...record, sealedKey })),
    };
  }

  return {
    async list() {
      return (await allStored())
        .map(({ account, stored: found }) => toAccount(account, found))
        .toSorted((a, b) => (a.account < b.account ? -1 : 1));
    },
    unreadable: async () =>
      (await readAll()).flatMap(({ account, found }) =>
        found instanceof Error ? [{ account, error: found }] : [],
      ),
    async get(account) {
      const found = await find(account);
      return found === null ? null : toAccount(account, found);
    },
    async getKeyed(account) {
      const found = await find(account);
      if (found === null) return null;
      const partnerKey = sealer.open(found.sealedKey, sealContext(account));
      return { ...toAccount(account, found), partnerKey };
    },
    async sealedRecords() {
      return (await allStored()).map(({ account, text, stored: found }) =>
        sealedRecord(account, text, found),
      );
    },
    async exists(account) {
      const text = await textOf(account);
      return text !== null && tryParse(keys.accounts, account, text) !== null;
    },
    async put(account, settings, now) {
      const { partnerKey, ...rest } = settings;
      const sealedKey = sealer.seal(partnerKey, sealContext(account));
      const replacing = { v: 1, ...rest, sealedKey, updatedAt: now } as const;
      for (;;) {
        const text = await textOf(account);
        const former = text === null ? null : tryParse(keys.accounts, account, text);
        if (former instanceof NewerFormatError) throw former;
        if (former instanceof Error) {
          const isWritten = await overwrite(account, replacing);
          if (isWritten === true) return { created: false };
          if (isWritten === false) continue;
        } else if (
          text !== null &&
          former !== null &&
          (await incarnations.isOpen(account, former.incarnation ?? ''))
        ) {
          if (await replace(account, text, JSON.stringify({ ...former, ...replacing }))) {
            await untilReplicated(redis, keys.accounts);
            return { created: false };
          }
          continue;
        }
        // Also where the keys are another incarnation's: a part of the cluster was set back, and what it
        // holds is of neither.
        const vacancy = await vacate(account, text);
        if (vacancy === null || !(await empty(account, vacancy))) continue;
        const incarnation = nextOf(vacancy);
        await incarnations.open(account, incarnation);
        const created: StoredAccount = { ...replacing, incarnation, createdAt: now };
        if (await replace(account, vacancy, JSON.stringify(created))) {
          await untilReplicated(redis, keys.accounts);
          return { created: true };
        }
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
    async finishRemovals() {
      const all = Object.entries<string>(await redis.hgetall(keys.accounts));
      for (const [account, text] of all)
        if (tryParse(keys.accounts, account, text) === null) await finishRemoval(account, text);
    },
  };
}

function sealContext(account: string): string {
  return `account:${account}`;
}

/** Null where there is a vacancy. Throws NewerFormatError and UnreadableRecordError. */
function parseAccount(key: string, account: string, text: string): StoredAccount | null {
  const stored = decodeRecord(key, account, text, toStoredOrVacancy);
  return 'next' in stored ? null : stored;
}

function tryParse(key: string, account: string, text: string): StoredAccount | UnreadableError | null {
  try {
    return parseAccount(key, account, text);
  } catch (error) {
    if (isUnreadable(error)) return error;
    throw error;
  }
}

function toStoredOrVacancy(text: string): StoredAccount | Vacancy | null {
  const stored = parseShaped<{ v: number }>(text, { v: 'number' }) as StoredAccount | Vacancy | null;
  if (stored === null) return null;
  const { v }: { readonly v: number } = stored;
  if (v > 1) throw new NewerFormatError('account', v, 'format 1');
  const fits = 'next' in stored ? isShaped(stored, { next: 'string' }) : isShaped(stored, storedShape);
  return fits ? stored : null;
}

const storedShape = {
  baseUrl: 'string',
  sealedKey: 'string',
  createdAt: 'number',
  updatedAt: 'number',
} as const;

function nextOf(vacancy: string): string {
  return (JSON.parse(vacancy) as Vacancy).next;
}
