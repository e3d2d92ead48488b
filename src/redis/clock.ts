import type { RedisClient } from './connect.ts';

/**
 * Redis's clock, in whole milliseconds, as far as this process knows it: reads by several daemons are put in order on
 * it. Between synchronisations it runs with the machine's monotonic clock, so a stepped wall clock does not bend it.
 */
export interface Clock {
  now(): number;
  /** Asks Redis for its time; off by at most the round trip afterwards. Rejects when Redis does. */
  synchronise(): Promise<void>;
}

/** A clock that starts on the machine's wall clock and is right after its first `synchronise`. */
export function createRedisClock(redis: Pick<RedisClient, 'time'>): Clock {
  let offset = Date.now() - performance.now();
  return {
    now: () => Math.floor(performance.now() + offset),
    async synchronise() {
      const asked = performance.now();
      const [seconds, micros] = await redis.time();
      const redisTime = Number(seconds) * 1000 + Number(micros) / 1000;
      offset = correctedOffset(offset, redisTime - performance.now(), redisTime - asked);
    },
  };
}

/**
 * The offset nearest to the present one that an answer allows; pure. Redis read its clock somewhere between question
 * and answer, so the true offset lies between `least` and `most`: inside them nothing moves, and a slow answer cannot
 * make the clock run backwards.
 */
export function correctedOffset(offset: number, least: number, most: number): number {
  return Math.min(Math.max(offset, least), most);
}
