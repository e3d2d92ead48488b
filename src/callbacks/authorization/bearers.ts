import { createBoundedMap } from '../../memory/bounded-map.ts';
import type { Auth } from '../../subscriptions/options/auth.ts';
import { failureDetails, type CallbackResult } from '../result.ts';
import type { AccessToken, RequestToken, TokenAnswer, TokenFailure, UnaskedToken } from './request-token.ts';

/** The tokens for the callbacks of one subscription. */
export interface Bearer {
  /**
   * A token to send; at once while one is held. `eager` asks the token endpoint although it has failed just
   * now. Rejects when the client is closed.
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
  /** Null where a token was granted. */
  readonly failure: TokenFailure | null;
}

/** The token of some credentials, as far as a process knows it. */
interface Held {
  token: (TokenAnswer & { readonly kind: 'token' }) | null;
  /** The last failure since a token was granted, with the number of them in a row. */
  failure: TokenFailure | null;
  failures: number;
  /** The token endpoint is left alone until then. */
  restUntil: number;
  /** When a refused token may be replaced without using up those that may follow at once. */
  replaceDue: number;
  underWay: Promise<TokenAnswer> | null;
}

// Maximum number of tokens in memory.
const heldMax = 20_000;
// Milliseconds between two replacements of refused tokens, and number of them that may follow at once.
const replaceEveryMs = 30_000;
const replaceAtOnce = 3;
// Milliseconds for which a token endpoint is left alone after its first failure. Each further one doubles
// them, up to the maximum. They are shorter than the pauses of a subscription: its probes find the endpoint.
const firstRestMs = 500;
const restMsMax = 30_000;

/**
 * Tokens in the memory of this process, none at first. One is requested at a time, before the former one
 * ends.
 */
export function createBearers({ requestToken, now, onTokenRequest }: BearersDeps): Bearers {
  const all = createBoundedMap<string, Held>(heldMax);

  async function request(held: Held, account: string, id: string, auth: Auth): Promise<TokenAnswer> {
    try {
      const answer = await requestToken(account, auth);
      if (answer.kind === 'unasked') return answer;
      if (answer.kind === 'token') Object.assign(held, { token: answer, failure: null, failures: 0 });
      else {
        const restMs = answer.retryAfterMs ?? Math.min(firstRestMs * 2 ** held.failures, restMsMax);
        Object.assign(held, { failure: answer, failures: held.failures + 1, restUntil: now() + restMs });
      }
      onTokenRequest({ account, subscription: id, failure: answer.kind === 'failed' ? answer : null });
      return answer;
    } finally {
      held.underWay = null;
    }
  }

  function mayReplace(held: Held): boolean {
    const due = Math.max(held.replaceDue, now());
    if (due > now() + (replaceAtOnce - 1) * replaceEveryMs) return false;
    held.replaceDue = due + replaceEveryMs;
    return true;
  }

  return (account, id, auth) => {
    const name = `${account} ${JSON.stringify(auth)}`;
    const unknown: Held = {
      token: null,
      failure: null,
      failures: 0,
      restUntil: 0,
      replaceDue: 0,
      underWay: null,
    };
    const held = all.get(name) ?? unknown;
    all.set(name, held);
    const requestOne = () => (held.underWay ??= request(held, account, id, auth));

    function current(eager: boolean): TokenAnswer | Promise<TokenAnswer> {
      const { token, failure, restUntil } = held;
      const rests = failure !== null && now() < restUntil;
      if (token !== null && now() < token.token.usableUntil) {
        // A failure is seen when the token ends: until then it is sent.
        if (now() >= token.token.refreshAt && !rests) requestOne().catch(() => undefined);
        return token;
      }
      if (!rests || (eager && failure.retryAfterMs === null)) return requestOne();
      // The token endpoint's wish to be left alone counts from its answer on.
      if (failure.retryAfterMs === null) return failure;
      return { ...failure, retryAfterMs: Math.max(1_000, restUntil - now()) };
    }

    return {
      current,
      async replace(refused) {
        if (held.token?.token === refused) {
          if (held.underWay === null && !mayReplace(held)) return null;
          held.token = null;
        }
        return current(false);
      },
    };
  };
}

/**
 * Sends a callback with a token. A 401 replaces the token and sends once more, as the same attempt; the
 * second response stands. The result does not contain the token, even where the receiver repeats it.
 */
export async function sendAuthorized(
  bearer: Bearer,
  eager: boolean,
  send: (authorization: string) => Promise<CallbackResult>,
): Promise<CallbackResult | TokenFailure | UnaskedToken> {
  const first = await bearer.current(eager);
  if (first.kind !== 'token') return first;
  const result = await send(`Bearer ${first.token.value}`);
  const isRefused = result.kind === 'response' && result.statusCode === 401;
  const second = isRefused ? await bearer.replace(first.token) : null;
  if (second === null) return withoutToken(result, first.token.value);
  if (second.kind !== 'token') return second;
  return withoutToken(await send(`Bearer ${second.token.value}`), second.token.value);
}

const mask = '***';
// Minimum characters of a token that are masked where the excerpt ends within it.
const partLengthMin = 8;

function withoutToken(result: CallbackResult, token: string): CallbackResult {
  if (result.kind === 'failure') {
    const { code, detail } = result;
    const hasToken = detail.includes(JSON.stringify(token.slice(0, partLengthMin)).slice(1, -1));
    return hasToken ? { ...result, detail: failureDetails[code] } : result;
  }
  const headers = Object.entries(result.headers).map(([name, value]): [string, typeof value] => [
    name,
    typeof value === 'string' ? hide(value, token) : value?.map((each) => hide(each, token)),
  ]);
  return { ...result, excerpt: hide(result.excerpt, token), headers: Object.fromEntries(headers) };
}

/** The text with a mask in place of the token, and of its beginning where the text ends within it. */
function hide(text: string, token: string): string {
  const masked = text.replaceAll(token, mask);
  for (let length = Math.min(token.length - 1, masked.length); length >= partLengthMin; length -= 1)
    if (masked.endsWith(token.slice(0, length))) return masked.slice(0, -length) + mask;
  return masked;
}
