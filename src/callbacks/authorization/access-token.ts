import { jitter } from '../../waiting/jitter.ts';
import type { CallbackFailure } from '../result.ts';

/** A bearer token (RFC 6750). Times are milliseconds on Redis's clock. */
export interface AccessToken {
  readonly value: string;
  /** When it was requested. A token that an endpoint refuses is replaced by one that was requested later. */
  readonly requestedAt: number;
  /** From then on another one is requested, while this one is still sent. */
  readonly refreshAt: number;
  /** It is not sent from then on. */
  readonly usableUntil: number;
}

/** Why there is no token. */
export interface TokenFailure {
  readonly kind: 'failed';
  /** Names the token endpoint by its origin, and includes the remedy; contains no secret. */
  readonly reason: string;
  /** Milliseconds for which the token endpoint has asked to wait; null where it has not. */
  readonly retryAfterMs: number | null;
}

/** A request for a token that failed on this side: the token endpoint is not at fault. */
export interface UnaskedToken {
  readonly kind: 'unasked';
  /** The outcome of the callback is that of this failure. */
  readonly failure: CallbackFailure;
}

/** The answer to a request for a token. */
export type TokenAnswer =
  { readonly kind: 'token'; readonly token: AccessToken } | TokenFailure | UnaskedToken;

// Milliseconds for which a token is used whose lifetime the token endpoint does not tell.
const unknownLifeMs = 600_000;
// Minimum and maximum milliseconds of the lifetime of a token, whatever the token endpoint says.
const lifeMsMin = 1_000;
const lifeMsMax = 86_400_000;
// Share of the lifetime before whose end a token is replaced, with its maximum in milliseconds. The margin is
// up to half as long again, so that tokens requested together are not replaced together.
const refreshShare = 0.1;
const refreshMsMax = 300_000;
const refreshSpread = { more: 0.5 };
// Share of the lifetime, with its maximum in milliseconds, that is left for the way to the endpoint.
const transitShare = 0.02;
const transitMsMax = 10_000;

/**
 * The times of a token with a lifetime in seconds (RFC 6749 §5.1), undefined where it has none; `random`
 * gives a number in [0, 1).
 */
export function tokenTimes(
  expiresIn: number | undefined,
  requestedAt: number,
  random: () => number,
): Omit<AccessToken, 'value'> {
  const askedMs = expiresIn === undefined ? unknownLifeMs : expiresIn * 1000;
  const lifeMs = Math.min(Math.max(askedMs, lifeMsMin), lifeMsMax);
  const end = requestedAt + Math.floor(lifeMs);
  const marginMs = jitter(Math.min(lifeMs * refreshShare, refreshMsMax), refreshSpread, random);
  const transitMs = Math.round(Math.min(lifeMs * transitShare, transitMsMax));
  return { requestedAt, refreshAt: end - marginMs, usableUntil: end - transitMs };
}

// Milliseconds for which a token endpoint is left alone after its first failure. Each further one doubles
// them, up to the maximum. They are shorter than the pauses of a subscription: its probes find the endpoint.
const firstRestMs = 500;
const restMsMax = 30_000;

/** Milliseconds for which a token endpoint is left alone after a number of failures in a row, from 1. */
export function restAfter({ retryAfterMs }: TokenFailure, failures: number): number {
  return retryAfterMs ?? Math.min(firstRestMs * 2 ** Math.min(failures - 1, 30), restMsMax);
}
