import type { RedisClient } from './connection/connect.ts';

/**
 * Redis's clock, in whole milliseconds, as far as this process knows it: reads by several daemons are put in
 * order on it. Between synchronisations it runs with the machine's monotonic clock, so a stepped wall clock
 * does not bend it.
 */
export interface Clock {
  now(): number;
  /** Asks Redis for its time; off by at most the round trip afterwards. Rejects when Redis does. */
  synchronise(): Promise<void>;
  /**
   * Since when (milliseconds on itself) it has not been found to have stepped; the first synchronisation at
   * the earliest.
   */
  steadySince(): number;
}

/**
 * Milliseconds by which clocks may be corrected, or differ, without a word: what NTP does all the time is
 * less.
 */
export const clockStepMsMin = 2_000;

/**
 * Milliseconds after which each process has synchronised with Redis's clock at the latest, while Redis
 * answers.
 */
export const synchroniseEveryMs = 10_000;

/**
 * A clock that starts on the machine's wall clock and is right after its first `synchronise`. `onStep` hears
 * of each step after that, with its milliseconds, negative where Redis's clock was set back.
 */
export function createRedisClock(
  redis: Pick<RedisClient, 'time'>,
  onStep: (ms: number) => void = () => undefined,
): Clock {
  let offset = Date.now() - performance.now();
  // On the monotonic clock; null until the first synchronisation.
  let steadyFrom: number | null = null;
  return {
    now: () => Math.floor(performance.now() + offset),
    async synchronise() {
      const asked = performance.now();
      const [seconds, micros] = await redis.time();
      const answered = performance.now();
      const redisTime = Number(seconds) * 1000 + Number(micros) / 1000;
      const former = offset;
      offset = correctedOffset(former, redisTime - answered, redisTime - asked);
      const isStep = Math.abs(offset - former) >= clockStepMsMin;
      if (steadyFrom !== null && isStep) onStep(Math.round(offset - former));
      if (steadyFrom === null || isStep) steadyFrom = answered;
    },
    steadySince: () => Math.floor((steadyFrom ?? performance.now()) + offset),
  };
}

/**
 * The offset nearest to the present one that an answer allows; pure. Redis read its clock somewhere between
 * question and answer, so the true offset lies between `least` and `most`: inside them nothing moves, and a
 * slow answer cannot make the clock run backwards.
 */
export function correctedOffset(offset: number, least: number, most: number): number {
  return Math.min(Math.max(offset, least), most);
}
