import { randomBytes } from 'node:crypto';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import { SealError, type Sealer } from '../../secrets/seal.ts';
import { accessTokenPlace } from '../../secrets/seal-place.ts';
import type { Auth } from '../../subscriptions/settings/auth.ts';
import { restAfter, type AccessToken, type TokenFailure } from './access-token.ts';
import { tokenRequestMsMax } from './request-token.ts';

/** A subscription whose endpoint wants a token. */
export interface TokenOwner {
  readonly account: string;
  readonly id: string;
  readonly auth: Auth;
}

/** A turn to request a token, which no other process has at the same time. */
export interface Turn {
  readonly owner: TokenOwner;
  readonly name: string;
  /** Number of requests in a row that have failed before. */
  readonly failures: number;
}

/** The state of a subscription's token in Redis. */
export type Taken =
  | { readonly kind: 'token'; readonly token: AccessToken }
  /** The caller is to request one; `token` may be sent meanwhile. */
  | { readonly kind: 'request'; readonly turn: Turn; readonly token: AccessToken | null }
  /** Another process requests one. */
  | { readonly kind: 'wait' }
  /** The token endpoint has failed and is left alone from then until then (ms on Redis's clock). */
  | { readonly kind: 'rest'; readonly failure: TokenFailure; readonly from: number; readonly until: number }
  /** Refused tokens were replaced too often. */
  | { readonly kind: 'bounded' }
  | { readonly kind: 'gone' };

/** The conditions of a look for a token. */
export interface Wish {
  /** The token that the endpoint has refused; null for any that may be sent. */
  readonly refused: AccessToken | null;
  /** Whether the token endpoint is asked although it has failed just now. */
  readonly eager: boolean;
}

/** The tokens of all processes, sealed. */
export interface TokenStore {
  /** One command. A token that does not open counts as none. */
  take(owner: TokenOwner, wish: Wish): Promise<Taken>;
  /** Keeps a token and ends the turn; a turn that was lost keeps nothing. */
  keep(turn: Turn, token: AccessToken): Promise<void>;
  /**
   * Keeps a failure and ends the turn. Returns the times (ms on Redis's clock) between which none is
   * requested.
   */
  fail(turn: Turn, failure: TokenFailure): Promise<{ readonly from: number; readonly until: number }>;
  /** Ends a turn of which nothing came. */
  giveBack(turn: Turn): Promise<void>;
}

// Milliseconds of a turn: a request and the writing of its answer. A process that is killed holds it no
// longer.
const turnMs = tokenRequestMsMax + 1_000;
// Milliseconds between two replacements of refused tokens of a subscription, over all processes, and number
// of them that may follow at once.
const replaceEveryMs = 30_000;
const replaceAtOnce = 3;
// Milliseconds for which a failure is remembered after its rest, so that the next one counts as its follower.
const rememberMs = 600_000;

/** Tokens in Redis; `now` is milliseconds on Redis's clock. */
export function createTokenStore(
  redis: RedisClient,
  keys: Keys,
  sealer: Sealer,
  now: () => number,
): TokenStore {
  const takeScript = loadScript(new URL('take-token.lua', import.meta.url));
  const endScript = loadScript(new URL('end-request.lua', import.meta.url));
  const keyOf = ({ account, id }: TokenOwner) => keys.account(account).subscription(id).accessToken;
  const placeOf = ({ account, id, auth }: TokenOwner) => accessTokenPlace(account, id, auth.revision);

  function open(owner: TokenOwner, [sealed = '', requestedAt, refreshAt, usableUntil]: readonly string[]) {
    try {
      const value = sealer.open(sealed, placeOf(owner));
      const times = {
        requestedAt: Number(requestedAt),
        refreshAt: Number(refreshAt),
        usableUntil: Number(usableUntil),
      };
      return { value, ...times };
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }

  async function end(
    { owner, name }: Turn,
    livesMs: number,
    fields: Readonly<Record<string, string | number>>,
  ): Promise<void> {
    await endScript.run(redis, [keyOf(owner)], [name, Math.ceil(livesMs), ...Object.entries(fields).flat()]);
  }

  async function take(owner: TokenOwner, { refused, eager }: Wish): Promise<Taken> {
    const { account, id, auth } = owner;
    const name = randomBytes(12).toString('hex');
    const [kind, ...rest] = (await takeScript.run(
      redis,
      [keyOf(owner), keys.account(account).subscriptions],
      [
        id,
        now(),
        auth.revision,
        name,
        turnMs,
        refused === null ? '' : refused.requestedAt,
        eager ? '1' : '',
        replaceEveryMs,
        replaceAtOnce,
      ],
    )) as [Taken['kind'], ...string[]];
    switch (kind) {
      case 'token': {
        const token = open(owner, rest);
        if (token !== null) return { kind, token };
        await redis.unlink(keyOf(owner));
        return take(owner, { refused, eager });
      }
      case 'request': {
        const [failures, ...sealed] = rest;
        const turn = { owner, name, failures: Number(failures) };
        return { kind, turn, token: sealed.length === 0 ? null : open(owner, sealed) };
      }
      case 'rest':
        return {
          kind,
          failure: JSON.parse(rest[0] ?? '') as TokenFailure,
          from: Number(rest[1]),
          until: Number(rest[2]),
        };
      case 'wait':
      case 'bounded':
      case 'gone':
        return { kind };
    }
  }

  return {
    take,
    async keep(turn, { value, ...times }) {
      const sealed = sealer.seal(value, placeOf(turn.owner));
      await end(turn, times.usableUntil - now(), { sealed, ...times });
    },
    async fail(turn, failure) {
      const failures = turn.failures + 1;
      const restMs = restAfter(failure, failures);
      const [restFrom, restUntil] = [now(), now() + restMs];
      const asked = failure.retryAfterMs === null ? 0 : 1;
      await end(turn, restMs + rememberMs, {
        failure: JSON.stringify(failure),
        restFrom,
        restUntil,
        failures,
        asked,
      });
      return { from: restFrom, until: restUntil };
    },
    giveBack: (turn) => end(turn, 0, {}),
  };
}
