import { readFileSync } from 'node:fs';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { TurnKind } from './fair-queue.ts';

/** Turns for requests to one host, taken over all processes. */
export interface Turns {
  /** Number of turns; 0 = none is free. */
  readonly taken: number;
  /** Milliseconds, from Redis's reply, until the first turn; without one, until it may be asked again. */
  readonly inMs: number;
}

/** Takes turns in Redis. */
export interface TurnLimiter {
  /** Milliseconds between two turns. */
  readonly spacingMs: number;
  /** Takes up to `wanted` turns. Rejects when Redis does; turns may then be taken, and stay unused. */
  take(host: string, wanted: number, kind: TurnKind): Promise<Turns>;
}

/** Maximum milliseconds by which a request may be later than its turn; a later one needs another turn. */
export const lateMsMax = 15;
// Milliseconds by which the ways of two requests to the service may differ.
const wayMs = 45;
// Seconds in which `totalRps` turns come: more than one, so that no second has more requests although they
// are late by different times.
const windowS = (1_000 + lateMsMax + wayMs) / 1_000;

// The library passes whole seconds to the script; a steady pace needs none.
const secondsOf: Readonly<Record<TurnKind, number>> = { change: 1, sweep: 2 };

const script = readFileSync(new URL('take-turns.lua', import.meta.url), 'utf8');

/** Turns for `totalRps` requests a second to each host, over one key a host in Redis. */
export function createTurnLimiter(
  redis: RedisClient,
  keys: Pick<Keys, 'hostBudget'>,
  totalRps: number,
): TurnLimiter {
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: '',
    points: totalRps,
    duration: windowS,
    customIncrTtlLuaScript: script,
  });
  return {
    spacingMs: (windowS * 1_000) / totalRps,
    async take(host, wanted, kind) {
      try {
        const taken = await limiter.consume(keys.hostBudget(host), wanted, {
          customDuration: secondsOf[kind],
        });
        return { taken: taken.consumedPoints, inMs: taken.msBeforeNext };
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        return { taken: 0, inMs: refused.msBeforeNext };
      }
    },
  };
}
