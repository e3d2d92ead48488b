import type { RedisClient } from './connect.ts';

/**
 * Redis's clock, in whole milliseconds, as far as this process knows it: reads by several daemons are put in order on
 * it. Between synchronisations it runs with the machine's monotonic clock, so a stepped wall clock does not bend it.
 */
export interface Clock {
  now(): number;
  /** Asks Redis for its time; off by at most half the round trip afterwards. Rejects when Redis does. */
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
      const middle = (asked + performance.now()) / 2;
      offset = Number(seconds) * 1000 + Number(micros) / 1000 - middle;
    },
  };
}
