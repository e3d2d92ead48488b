import { createHmac, hash as digest, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { orNull } from '../json/or-null.ts';
import { replaceField } from '../redis/hash-fields.ts';
import { loadScript } from '../redis/scripts.ts';
import { parseShaped } from '../redis/unreadable-record.ts';
import { hashLength, touchEveryMs, type AccountToken } from './token-store.ts';

/** A browser that is signed in. Times are milliseconds on Redis's clock. */
export interface Session {
  /** The start of the digest of its text: identifies the session and opens nothing. */
  readonly id: string;
  /** The account and the token that it was opened with; null = it is the operator's. */
  readonly opens: { readonly account: string; readonly token: string } | null;
  /** It ends then at the latest. */
  readonly endsAt: number;
  /** When it was last used, to within five minutes. */
  readonly usedAt: number;
}

/** Milliseconds that a session lasts in all. */
export const sessionMs = 7 * 24 * 3_600_000;
/** Milliseconds without use after which a session ends. */
const sessionIdleMs = 12 * 3_600_000;
/** Maximum number of sessions of an account, and of the operator; the oldest one goes. */
const sessionsMax = 1_000;
/** Maximum number of sessions of one account token; the oldest one goes. */
const sessionsOfTokenMax = 200;

// As in a token, the text names the account, so that it is found without a search.
const textPattern = /^fws_[A-Za-z0-9_-]{43}(?:\.([A-Za-z0-9][A-Za-z0-9._-]{0,63}))?$/;

interface StoredSession {
  readonly hash: string;
  /** Id of the token; '' = the operator's. */
  readonly token: string;
  readonly createdAt: number;
  readonly endsAt: number;
  readonly usedAt: number;
}

/**
 * Sessions in one Redis hash per account, so that they go with it, and one for the operator's. Only digests
 * are stored. The digest of an operator's session is keyed with a key that is derived from `operatorToken`:
 * when that changes, they all end.
 */
export function createSessionStore(redis: RedisClient, keys: Keys, operatorToken: string) {
  const addScript = loadScript(new URL('add-session.lua', import.meta.url));
  // RFC 5869: a key of its own for this purpose.
  const sessionKey = Buffer.from(hkdfSync('sha256', operatorToken, '', 'filing-webhooks sessions', 32));

  function placeOf(text: string): { key: string; account: string | null; hash: string } | null {
    const match = textPattern.exec(text);
    if (match === null) return null;
    const account = match[1] ?? null;
    return account === null
      ? { key: keys.sessions, account, hash: createHmac('sha256', sessionKey).update(text).digest('hex') }
      : { key: keys.account(account).sessions, account, hash: digest('sha256', text) };
  }

  async function read(text: string) {
    const place = placeOf(text);
    if (place === null) return null;
    const found = await redis.hget(place.key, idOf(place.hash));
    const stored = found === null ? null : parseStored(found);
    if (stored === null || found === null) return null;
    if (!timingSafeEqual(Buffer.from(stored.hash), Buffer.from(place.hash))) return null;
    return { ...place, stored, found };
  }

  return {
    /**
     * Opens a session for the holder of a token, or for the operator (null), and returns its text: 256 random
     * bits, which are not stored. Null when the token was revoked meanwhile. Atomic.
     */
    async create(token: AccountToken | null, now: number) {
      const text = `fws_${randomBytes(32).toString('base64url')}${token === null ? '' : `.${token.account}`}`;
      const place = placeOf(text);
      if (place === null) throw new Error('a session has another form than its pattern');
      const { key, hash } = place;
      const endsAt = Math.min(now + sessionMs, token?.expiresAt ?? Infinity);
      const stored: StoredSession = {
        hash,
        token: token?.id ?? '',
        createdAt: now,
        endsAt,
        usedAt: now,
      };
      const others = token === null ? [] : (['tokens', 'incarnation'] as const);
      const added = await addScript.run(
        redis,
        [key, ...others.map((name) => keys.account(token?.account ?? '')[name])],
        [
          idOf(hash),
          JSON.stringify(stored),
          stored.token,
          now,
          sessionIdleMs,
          sessionsOfTokenMax,
          sessionsMax,
          sessionMs,
        ],
      );
      return added === 'added' ? { text, session: toSession(place.account, stored) } : null;
    },
    /**
     * The session with this text; null if it is unknown or has ended. Its token is not checked and may be
     * revoked.
     */
    async find(text: string, now: number): Promise<Session | null> {
      const found = await read(text);
      if (found === null) return null;
      const { endsAt, usedAt } = found.stored;
      const isOver = endsAt <= now || usedAt + sessionIdleMs <= now;
      return isOver ? null : toSession(found.account, found.stored);
    },
    /** Remembers the use of a session that was found; writes once in five minutes, never after its end. */
    async touch(text: string, { usedAt }: Session, now: number): Promise<void> {
      if (now - usedAt < touchEveryMs) return;
      const found = await read(text);
      if (found === null) return;
      const value = JSON.stringify({ ...found.stored, usedAt: now });
      await replaceField(redis, found.key, idOf(found.stored.hash), { expected: found.found, value });
    },
    /** Ends a session immediately; does nothing if it has ended. */
    async remove({ id, opens }: Session): Promise<void> {
      await redis.hdel(opens === null ? keys.sessions : keys.account(opens.account).sessions, id);
    },
  };
}

// A record that cannot be read is no session: its holder signs in again. timingSafeEqual takes hashes of one
// length only.
function parseStored(text: string): StoredSession | null {
  const shape = { hash: 'string', token: 'string', endsAt: 'number', usedAt: 'number' } as const;
  const stored = orNull(() => parseShaped<StoredSession>(text, shape));
  return stored?.hash.length === hashLength ? stored : null;
}

function toSession(account: string | null, { hash, token, endsAt, usedAt }: StoredSession): Session {
  return { id: idOf(hash), opens: account === null ? null : { account, token }, endsAt, usedAt };
}

function idOf(hash: string): string {
  return `ses_${hash.slice(0, 16)}`;
}
