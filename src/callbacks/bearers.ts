import { createBoundedMap } from '../memory/bounded-map.ts';
import type { Auth } from '../subscriptions/options/auth.ts';
import type { AccessToken, RequestToken, TokenAnswer, TokenFailure, UnaskedToken } from './request-token.ts';
import type { CallbackResult } from './result.ts';

/** The tokens for the callbacks of one subscription. */
export interface Bearer {
  /** A token to send, returned synchronously while one is cached. Rejects when the client is closed. */
  current(): TokenAnswer | Promise<TokenAnswer>;
  /**
   * Replaces a token that the endpoint has refused. Null if one was replaced just before: the refusal then
   * stands.
   */
  replace(refused: AccessToken): Promise<TokenAnswer | null>;
}

/** Gives subscriptions their tokens. Those of one account with equal settings share them in this process. */
export type Bearers = (account: string, id: string, auth: Auth) => Bearer;

export interface BearersDeps {
  readonly requestToken: RequestToken;
  /** Monotonic, in milliseconds, as for `requestToken`. */
  readonly now: () => number;
  /** Called after each request for a token. */
  readonly onTokenRequest: (report: TokenRequestReport) => void;
}

/** One request for a token, for logs and metrics. */
export interface TokenRequestReport {
  readonly account: string;
  readonly subscription: string;
  /** Null if a token was granted. */
  readonly failure: TokenFailure | null;
}

/** The token of some credentials, as far as a process knows it. */
interface Held {
  token: AccessToken | null;
  /** The last failure since a token was granted. */
  failure: TokenFailure | null;
  /** The token endpoint is left alone until then after a failure. */
  restUntil: number;
  /** When a refused token may be replaced again. */
  replaceDue: number;
  underWay: Promise<TokenAnswer> | null;
}

// Maximum number of tokens in memory.
const heldMax = 20_000;
// Minimum milliseconds between two replacements of refused tokens.
const replaceEveryMs = 10_000;
// Milliseconds for which a token endpoint is left alone after a failure. Subscriptions pause longer.
const restMs = 1_000;

/**
 * Tokens in the memory of this process, none at first. One is requested at a time, before the former one
 * ends.
 */
export function createBearers({ requestToken, now, onTokenRequest }: BearersDeps): Bearers {
  const all = createBoundedMap<string, Held>(heldMax);

  async function request(held: Held, account: string, subscription: string, auth: Auth) {
    try {
      const answer = await requestToken(account, auth);
      if (answer.kind === 'unasked') return answer;
      const failure = answer.kind === 'failed' ? answer : null;
      held.failure = failure;
      if (answer.kind === 'token') held.token = answer.token;
      else held.restUntil = now() + (answer.retryAfterMs ?? restMs);
      onTokenRequest({ account, subscription, failure });
      return answer;
    } finally {
      held.underWay = null;
    }
  }

  return (account, id, auth) => {
    const name = `${account} ${JSON.stringify(auth)}`;
    const unknown: Held = { token: null, failure: null, restUntil: 0, replaceDue: 0, underWay: null };
    const held = all.get(name) ?? unknown;
    all.set(name, held);
    const requestOne = () => (held.underWay ??= request(held, account, id, auth));

    function current(): TokenAnswer | Promise<TokenAnswer> {
      const { token, failure, restUntil } = held;
      const rests = failure !== null && now() < restUntil;
      if (token !== null && now() < token.usableUntil) {
        // A failure is seen when the token ends: until then it is sent.
        if (now() >= token.refreshAt && !rests) requestOne().catch(() => undefined);
        return { kind: 'token', token };
      }
      if (!rests) return requestOne();
      // The token endpoint's wish to be left alone counts from its answer on.
      if (failure.retryAfterMs === null) return failure;
      return { ...failure, retryAfterMs: Math.max(1_000, restUntil - now()) };
    }

    return {
      current,
      async replace(refused) {
        if (held.token === refused) {
          if (held.underWay === null) {
            if (now() < held.replaceDue) return null;
            held.replaceDue = now() + replaceEveryMs;
          }
          held.token = null;
        }
        return current();
      },
    };
  };
}

/**
 * Sends a callback with a token. A 401 replaces the token and sends once more within the same attempt; the
 * second response counts. The result never contains the token, even if the receiver echoes it.
 */
export async function sendAuthorized(
  bearer: Bearer,
  send: (authorization: string) => Promise<CallbackResult>,
): Promise<CallbackResult | TokenFailure | UnaskedToken> {
  const first = await bearer.current();
  if (first.kind !== 'token') return first;
  const result = await send(`Bearer ${first.token.value}`);
  const isRefused = result.kind === 'response' && result.statusCode === 401;
  const second = isRefused ? await bearer.replace(first.token) : null;
  if (second === null) return withoutToken(result, first.token.value);
  if (second.kind !== 'token') return second;
  return withoutToken(await send(`Bearer ${second.token.value}`), second.token.value);
}

const mask = '***';
// Minimum length of a partial token that is masked at the end of an excerpt.
const partLengthMin = 8;

function withoutToken(result: CallbackResult, token: string): CallbackResult {
  // The detail of a failure has no text of the receiver.
  if (result.kind === 'failure') return result;
  const headers = Object.entries(result.headers).map(([name, value]): [string, typeof value] => [
    name,
    typeof value === 'string' ? hide(value, token) : value?.map((each) => hide(each, token)),
  ]);
  return { ...result, excerpt: hide(result.excerpt, token), headers: Object.fromEntries(headers) };
}

/** Masks the token in a text, and also its beginning if the text ends within it. */
function hide(text: string, token: string): string {
  const masked = text.replaceAll(token, mask);
  for (let length = Math.min(token.length - 1, masked.length); length >= partLengthMin; length -= 1)
    if (masked.endsWith(token.slice(0, length))) return masked.slice(0, -length) + mask;
  return masked;
}
