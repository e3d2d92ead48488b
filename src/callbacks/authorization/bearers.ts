import { failedBeforehand } from '../exchange.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import type { Auth } from '../../subscriptions/settings/auth.ts';
import type { AccessToken, TokenAnswer, TokenFailure } from './access-token.ts';
import type { RequestToken } from './request-token.ts';
import { failureOfWaiting } from './token-failure.ts';
import type { Taken, TokenOwner, TokenStore, Turn, Wish } from './token-store.ts';

/** The tokens for the callbacks of one subscription. */
export interface Bearer {
  /**
   * A token to send; at once and without Redis while one is held in memory. `eager` asks the token endpoint
   * although it has failed just now. Rejects when Redis fails or the client is closed.
   */
  current(eager: boolean): TokenAnswer | Promise<TokenAnswer>;
  /**
   * A token in place of one that the endpoint has refused; null where refused tokens were replaced too often,
   * so that the refusal stands.
   */
  replace(refused: AccessToken): Promise<TokenAnswer | null>;
}

/** Gives subscriptions their tokens. Those of one account with equal settings share them in this process. */
export type Bearers = (account: string, id: string, auth: Auth) => Bearer;

export interface BearersDeps {
  readonly store: TokenStore;
  readonly requestToken: RequestToken;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /** Called after each request for a token. */
  readonly onTokenRequest: (report: TokenRequestReport) => void;
}

/** One request for a token, for logs and metrics. */
export interface TokenRequestReport {
  readonly account: string;
  readonly subscription: string;
  /** Null where a token was granted. */
  readonly failure: TokenFailure | null;
}

/** Times are milliseconds on Redis's clock. */
type Rest = Pick<Taken & { readonly kind: 'rest' }, 'failure' | 'from' | 'until'>;

interface Held {
  token: (TokenAnswer & { readonly kind: 'token' }) | null;
  /** No look at Redis for the next token before this time. */
  lookAt: number;
  rest: Rest | null;
  underWay: Promise<TokenAnswer | null> | null;
}

// Maximum number of tokens in memory; the others are in Redis.
const heldMax = 20_000;
// Milliseconds between two looks while another process requests a token, and until the next look for the one
// that replaces a token that may still be sent.
const pollMs = 100;
const lookMs = 1_000;
// Maximum number of looks while another process requests a token: its turn is over long before.
const looksMax = 300;

/** No tokens in memory yet. */
export function createBearers({ store, requestToken, now, onTokenRequest }: BearersDeps): Bearers {
  const all = createBoundedMap<string, Held>(heldMax);

  async function request(held: Held, turn: Turn): Promise<TokenAnswer> {
    const { account, id, auth } = turn.owner;
    let answer: TokenAnswer;
    try {
      answer = await requestToken(account, auth);
    } catch (error) {
      await store.giveBack(turn).catch(() => undefined);
      throw error;
    }
    if (answer.kind === 'unasked') {
      await store.giveBack(turn);
      return answer;
    }
    onTokenRequest({ account, subscription: id, failure: answer.kind === 'failed' ? answer : null });
    if (answer.kind === 'token') {
      keep(held, answer.token);
      await store.keep(turn, answer.token);
    } else held.rest = { failure: answer, ...(await store.fail(turn, answer)) };
    return answer;
  }

  /** Looks for a token in Redis, or requests one. A token that may be sent meanwhile is held before. */
  async function obtain(held: Held, owner: TokenOwner, wish: Wish): Promise<TokenAnswer | null> {
    for (let looks = 0; looks < looksMax; looks += 1) {
      const taken = await store.take(owner, wish);
      switch (taken.kind) {
        case 'token':
          keep(held, taken.token);
          held.lookAt = now() + lookMs;
          return { kind: 'token', token: taken.token };
        case 'request':
          if (taken.token !== null) keep(held, taken.token);
          return request(held, taken.turn);
        case 'rest':
          held.rest = taken;
          return remaining(taken, now());
        case 'bounded':
          return null;
        case 'gone':
          return { kind: 'unasked', failure: failedBeforehand('aborted') };
        case 'wait':
          await delay(pollMs);
      }
    }
    return failureOfWaiting(owner.auth);
  }

  function keep(held: Held, token: AccessToken): void {
    held.token = { kind: 'token', token };
    held.rest = null;
  }

  function begin(held: Held, owner: TokenOwner, wish: Wish): Promise<TokenAnswer | null> {
    const begun = obtain(held, owner, wish).finally(() => {
      held.underWay = null;
    });
    held.underWay = begun;
    return begun;
  }

  // A failure is seen when the token ends: until then it is sent.
  function renewSoon(held: Held, owner: TokenOwner, at: number): void {
    if (held.underWay !== null || at < held.lookAt) return;
    held.lookAt = at + lookMs;
    begin(held, owner, { refused: null, eager: false }).catch(() => undefined);
  }

  return (account, id, auth) => {
    const { revision: _, ...credentials } = auth;
    const name = `${account} ${JSON.stringify(credentials)}`;
    const held = all.get(name) ?? { token: null, lookAt: 0, rest: null, underWay: null };
    all.set(name, held);
    const owner = { account, id, auth };

    async function wait(eager: boolean): Promise<TokenAnswer> {
      const answer = await (held.underWay ?? begin(held, owner, { refused: null, eager }));
      return answer ?? wait(eager);
    }

    return {
      current(eager) {
        const at = now();
        const { token } = held.token ?? {};
        if (held.token !== null && token !== undefined && at < token.usableUntil) {
          if (at >= token.refreshAt) renewSoon(held, owner, at);
          return held.token;
        }
        const { rest } = held;
        if (rest !== null && isResting(rest, at) && !(eager && rest.failure.retryAfterMs === null))
          return remaining(rest, at);
        return wait(eager);
      },
      async replace(refused) {
        const isLater = () => held.token !== null && held.token.token.requestedAt > refused.requestedAt;
        while (held.underWay !== null && !isLater()) {
          const answer = await held.underWay;
          if (answer?.kind !== 'token') return answer;
        }
        if (isLater() && held.token !== null) return held.token;
        const former = held.token;
        held.token = null;
        const answer = await begin(held, owner, { refused, eager: false });
        if (answer === null) held.token ??= former;
        return answer;
      },
    };
  };
}

// A rest that begins later was decided before the clock was set back.
function isResting({ from, until }: Rest, at: number): boolean {
  return at >= from && at < until;
}

// The token endpoint's wish to be left alone counts from its answer on.
function remaining({ failure, until }: Rest, at: number): TokenFailure {
  return failure.retryAfterMs === null ? failure : { ...failure, retryAfterMs: Math.max(1_000, until - at) };
}
