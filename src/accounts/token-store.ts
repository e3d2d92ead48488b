import { hash as digest, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { NewerFormatError } from '../redis/newer-format-error.ts';
import { replaceField } from '../redis/replace-field.ts';
import {
  decodeRecord,
  isShaped,
  parseShaped,
  UnreadableRecordError,
  type OnUnreadable,
} from '../redis/unreadable-record.ts';
import { defineScript } from '../redis/scripts.ts';

/** A token of an account, without its text. Times are milliseconds on Redis's clock. */
export interface AccountToken {
  /** The start of the text's SHA-256: identifies the token and opens nothing. */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly readOnly: boolean;
  readonly createdAt: number;
  /** Null = never. */
  readonly expiresAt: number | null;
  /** To within five minutes; null = not yet. */
  readonly lastUsedAt: number | null;
}

/** The settings of a token. */
export type TokenSettings = Pick<AccountToken, 'name' | 'readOnly' | 'expiresAt'>;

/** The tokens of all accounts. Only digests are stored. */
export interface TokenStore {
  /**
   * Creates a token with 256 random bits and returns its text, which is not stored. Null when the account was
   * removed meanwhile.
   */
  create(
    account: string,
    settings: TokenSettings,
    now: number,
  ): Promise<{ text: string; token: AccountToken } | null>;
  /** All tokens of an account, oldest first, expired ones included. */
  list(account: string): Promise<AccountToken[]>;
  /** Revokes a token at once. False when there was none. */
  remove(account: string, id: string): Promise<boolean>;
  /** The token with this text, of any account; null when it is unknown, revoked or expired. */
  find(text: string, now: number): Promise<AccountToken | null>;
  /**
   * Remembers the use of a token that was found; writes once in five minutes and never brings back a revoked
   * one.
   */
  touch(token: AccountToken, now: number): Promise<void>;
}

interface StoredToken extends Omit<AccountToken, 'id' | 'account'> {
  readonly v: 1;
  readonly hash: string;
}

// Hexadecimal digits of a SHA-256.
const hashLength = 64;

// Milliseconds in which the use of a token is written at most once.
const touchEveryMs = 5 * 60_000;

// The text names its account, so that a valid token on the path of another account is distinguished from a
// wrong one without a search.
const textPattern = /^fwa_[A-Za-z0-9_-]{43}\.([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

// KEYS   1 tokens  2 incarnation
// ARGV   1 id  2 token
// Reply  1, or 0 when the account is removed
const addScript = defineScript(`
if string.match(redis.call('GET', KEYS[2]) or '', '^closed ') then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1`);

/** Tokens in one Redis hash per account, so that they go with it. */
export function createTokenStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
): TokenStore {
  const tokensOf = (account: string) => keys.account(account).tokens;
  const parse = (account: string, id: string, text: string) => parseToken(tokensOf(account), id, text);

  // A token that cannot be read opens nothing and can be removed by its id.
  function readListed(account: string, id: string, text: string): AccountToken[] {
    try {
      return [toToken(account, parse(account, id, text))];
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      const reason = error.message;
      onUnreadable({
        account,
        kind: 'tokens',
        key: tokensOf(account),
        field: id,
        reason,
        remedy: 'left_out',
      });
      return [];
    }
  }

  return {
    async create(account, { name, readOnly, expiresAt }, now) {
      const text = `fwa_${randomBytes(32).toString('base64url')}.${account}`;
      const hash = digest('sha256', text);
      const stored: StoredToken = { v: 1, hash, name, readOnly, createdAt: now, expiresAt, lastUsedAt: null };
      const { tokens, incarnation } = keys.account(account);
      const added = await addScript.run(redis, [tokens, incarnation], [idOf(hash), JSON.stringify(stored)]);
      return added !== 1 ? null : { text, token: toToken(account, stored) };
    },
    async list(account) {
      const all = Object.entries<string>(await redis.hgetall(tokensOf(account)));
      return all.flatMap(([id, text]) => readListed(account, id, text)).toSorted(byAge);
    },
    remove: async (account, id) => (await redis.hdel(tokensOf(account), id)) === 1,
    async find(text, now) {
      const account = textPattern.exec(text)?.[1];
      if (account === undefined) return null;
      const hash = digest('sha256', text);
      const found = await redis.hget(tokensOf(account), idOf(hash));
      if (found === null) return null;
      const stored = parse(account, idOf(hash), found);
      if (!timingSafeEqual(Buffer.from(stored.hash), Buffer.from(hash))) return null;
      return stored.expiresAt !== null && stored.expiresAt <= now ? null : toToken(account, stored);
    },
    async touch({ account, id, lastUsedAt }, now) {
      if (lastUsedAt !== null && now - lastUsedAt < touchEveryMs) return;
      const text = await redis.hget(tokensOf(account), id);
      if (text === null) return;
      const value = JSON.stringify({ ...parse(account, id, text), lastUsedAt: now });
      await replaceField(redis, tokensOf(account), id, { expected: text, value });
    },
  };
}

function toToken(
  account: string,
  { hash, name, readOnly, createdAt, expiresAt, lastUsedAt }: StoredToken,
): AccountToken {
  return { id: idOf(hash), account, name, readOnly, createdAt, expiresAt, lastUsedAt };
}

function parseToken(key: string, id: string, text: string): StoredToken {
  return decodeRecord(key, id, text, toStored);
}

// timingSafeEqual takes hashes of one length only.
function toStored(text: string): StoredToken | null {
  const stored = parseShaped<StoredToken>(text, { v: 'number' });
  if (stored === null) return null;
  const { v }: { readonly v: number } = stored;
  if (v > 1) throw new NewerFormatError('token', v, 'format 1');
  const isToken = isShaped(stored, { hash: 'string', name: 'string', createdAt: 'number' });
  return isToken && stored.hash.length === hashLength ? stored : null;
}

function idOf(hash: string): string {
  return `tok_${hash.slice(0, 16)}`;
}

function byAge(a: AccountToken, b: AccountToken): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
