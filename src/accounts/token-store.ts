import { hash as digest, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { replaceField } from '../redis/hash-fields.ts';
import { decodeRecord, parseShaped, readOrLeaveOut, type OnUnreadable } from '../redis/unreadable-record.ts';
import { defineScript, loadScript } from '../redis/scripts.ts';

/**
 * The changes that a token may make: none with `read`, notes on filings with `triage`, and with `manage` all
 * of its account, or of `subscriptions`.
 */
export type Right = (typeof rights)[number];

/** Every right, the least first. */
export const rights = ['read', 'triage', 'manage'] as const;

/** A token of an account, without its text. Times are milliseconds on Redis's clock. */
export interface AccountToken {
  /** The start of the text's SHA-256: identifies the token and opens nothing. */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly right: Right;
  /** Whether its text is that of a link, which opens the page and not the API. */
  readonly link: boolean;
  /**
   * Which subscriptions it may see and manage: all of the account, or only those that it made; then it may
   * change nothing else of the account.
   */
  readonly subscriptions: 'all' | 'own';
  readonly createdAt: number;
  /** Null = never. */
  readonly expiresAt: number | null;
  /** To within five minutes; null = not yet. */
  readonly lastUsedAt: number | null;
  /** The id of the token that made it; null = the operator. */
  readonly parent: string | null;
}

/** The settings of a token; a parent expires no earlier than the tokens that it makes. */
export type TokenSettings = Pick<AccountToken, 'name' | 'right' | 'expiresAt'> &
  Partial<Pick<AccountToken, 'parent' | 'link' | 'subscriptions'>>;

/** The result of making a token. */
export type MadeToken =
  | { readonly kind: 'made'; readonly text: string; readonly token: AccountToken }
  | { readonly kind: 'gone' } // the account was removed meanwhile
  | { readonly kind: 'revoked' } // the token that makes it was revoked meanwhile
  | { readonly kind: 'full' }; // the account has as many as it may have

/** Maximum number of tokens of an account, with links and expired ones; expired links make way for others. */
export const tokensMax = 1_000;

interface StoredToken extends Omit<AccountToken, 'id' | 'account'> {
  readonly hash: string;
}

/** Hexadecimal digits of a SHA-256. */
export const hashLength = 64;

/** Milliseconds in which the use of a token or a session is written at most once. */
export const touchEveryMs = 5 * 60_000;

// The text names its account, so that a valid token on the path of another account is distinguished from a
// wrong one without a search.
const textPattern = /^fw[al]_[A-Za-z0-9_-]{43}\.([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

/** Whether a text has the form of a link's; pure. */
export function isLinkText(text: string): boolean {
  return text.startsWith('fwl_');
}

// Adds a token.
//
// KEYS   1 tokens  2 incarnation
// ARGV   1 id  2 token (JSON)  3 id of the token that makes it ('' = the operator's)  4 maximum number of an
//       account  5 now
// Reply  'added', 'gone' when the account is removed, 'revoked' when the token that makes it is, or 'full'
//       when there
//        are as many as may be; then nothing was written
const addScript = defineScript(`
if string.match(redis.call('GET', KEYS[2]) or '', '^closed ') then return 'gone' end
if ARGV[3] ~= '' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return 'revoked' end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then
  -- Links are made by the day, so expired ones make way.
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    local ends = tonumber(string.match(all[i + 1], '"expiresAt":(%d+)'))
    if ends and ends <= tonumber(ARGV[5]) and string.find(all[i + 1], '"link":true', 1, true) then
      redis.call('HDEL', KEYS[1], all[i])
    end
  end
  if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 'full' end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'added'`);

/** Tokens in one Redis hash per account, so that they go with it. Only digests are stored. */
export function createTokenStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
) {
  const removeScript = loadScript(new URL('remove-token.lua', import.meta.url));
  const tokensOf = (account: string) => keys.account(account).tokens;
  const parse = (account: string, id: string, text: string) =>
    decodeRecord(tokensOf(account), id, text, toStored);

  return {
    /** Creates a token with 256 random bits and returns its text, which is not stored. Atomic. */
    async create(account: string, settings: TokenSettings, now: number): Promise<MadeToken> {
      const secret = randomBytes(32).toString('base64url');
      const text = `${settings.link === true ? 'fwl' : 'fwa'}_${secret}.${account}`;
      const hash = digest('sha256', text);
      const stored: StoredToken = {
        link: false,
        subscriptions: 'all',
        parent: null,
        ...settings,
        hash,
        createdAt: now,
        lastUsedAt: null,
      };
      const { tokens, incarnation } = keys.account(account);
      const added = await addScript.run(
        redis,
        [tokens, incarnation],
        [idOf(hash), JSON.stringify(stored), settings.parent ?? '', tokensMax, now],
      );
      if (added === 'gone' || added === 'revoked' || added === 'full') return { kind: added };
      return { kind: 'made', text, token: toToken(account, stored) };
    },
    /**
     * All tokens of an account, oldest first, expired ones included. One that cannot be read opens nothing
     * and can be removed by its id.
     */
    async list(account: string): Promise<AccountToken[]> {
      const all = Object.entries<string>(await redis.hgetall(tokensOf(account)));
      const read = ([id, text]: [string, string]) =>
        readOrLeaveOut(account, onUnreadable, () => toToken(account, parse(account, id, text)));
      return all.flatMap(read).toSorted(byAge);
    },
    /**
     * Revokes a token at once, with all that were made with it and with those; atomic. False when there was
     * none. With `keep` those that it made stay, as made by the token that made it.
     */
    remove: async (account: string, id: string, children: 'revoke' | 'keep') =>
      (await removeScript.run(redis, [tokensOf(account)], [id, children === 'keep' ? '1' : ''])) !== 0,
    /** The token with this text, of any account; null if it is unknown, revoked or expired. */
    async find(text: string, now: number): Promise<AccountToken | null> {
      const account = textPattern.exec(text)?.[1];
      if (account === undefined) return null;
      const hash = digest('sha256', text);
      const found = await redis.hget(tokensOf(account), idOf(hash));
      if (found === null) return null;
      const stored = parse(account, idOf(hash), found);
      if (!timingSafeEqual(Buffer.from(stored.hash), Buffer.from(hash))) return null;
      return unlessExpired(toToken(account, stored), now);
    },
    /** The token of an account by its id; null as above. */
    async get(account: string, id: string, now: number): Promise<AccountToken | null> {
      const found = await redis.hget(tokensOf(account), id);
      return found === null ? null : unlessExpired(toToken(account, parse(account, id, found)), now);
    },
    /**
     * Remembers the use of a token that was found; writes once in five minutes and never brings back a
     * revoked one.
     */
    async touch({ account, id, lastUsedAt }: AccountToken, now: number): Promise<void> {
      if (lastUsedAt !== null && now - lastUsedAt < touchEveryMs) return;
      const text = await redis.hget(tokensOf(account), id);
      if (text === null) return;
      const value = JSON.stringify({ ...parse(account, id, text), lastUsedAt: now });
      await replaceField(redis, tokensOf(account), id, { expected: text, value });
    },
  };
}

function toToken(account: string, { hash, ...stored }: StoredToken): AccountToken {
  return { id: idOf(hash), account, ...stored };
}

function unlessExpired(token: AccountToken, now: number): AccountToken | null {
  return token.expiresAt !== null && token.expiresAt <= now ? null : token;
}

// timingSafeEqual takes hashes of one length only.
function toStored(text: string): StoredToken | null {
  const stored = parseShaped<StoredToken>(text, { hash: 'string', name: 'string', createdAt: 'number' });
  if (stored?.hash.length !== hashLength) return null;
  return rights.includes(stored.right) && ['all', 'own'].includes(stored.subscriptions) ? stored : null;
}

function idOf(hash: string): string {
  return `tok_${hash.slice(0, 16)}`;
}

function byAge(a: AccountToken, b: AccountToken): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
