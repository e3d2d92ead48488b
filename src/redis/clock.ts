import type { RedisClient } from './connection/connect.ts';

/**
 * Redis's clock, in whole milliseconds, as far as this process knows it: it orders the reads of several
 * daemons. Between synchronisations it runs with the machine's monotonic clock, so a step of the wall clock
 * does not change it.
 */
export interface Clock {
  now(): number;
  /**
   * Synchronises with Redis's time, unless that was done within the last `ageMs` milliseconds; the error
   * afterwards is at most the round trip. Rejects when Redis does.
   */
  synchronise(ageMs?: number): Promise<void>;
  /**
   * The time on this clock since which no step of it was found; the first synchronisation at the earliest.
   */
  steadySince(): number;
}

/**
 * Milliseconds from which on a correction of a clock, or a difference between two, counts as a step: regular
 * corrections by NTP are smaller.
 */
export const clockStepMsMin = 2_000;

/**
 * Maximum milliseconds between synchronisations of each process, while Redis answers.
 */
export const synchroniseEveryMs = 10_000;

/**
 * A clock that starts on the machine's wall clock and is right after its first `synchronise`. `onStep` is
 * called with the milliseconds of each later step, negative if Redis's clock was set back.
 */
export function createRedisClock(
  redis: Pick<RedisClient, 'time'>,
  onStep: (ms: number) => void = () => undefined,
): Clock {
  let offset = Date.now() - performance.now();
  let synchronisedAt = -Infinity;
  // On the monotonic clock; null until the first synchronisation.
  let steadyFrom: number | null = null;
  return {
    now: () => Math.floor(performance.now() + offset),
    async synchronise(ageMs = 0) {
      const asked = performance.now();
      if (asked - synchronisedAt < ageMs) return;
      const [seconds, micros] = await redis.time();
      const answered = performance.now();
      const redisTime = Number(seconds) * 1000 + Number(micros) / 1000;
      synchronisedAt = asked;
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
 * The offset nearest to the present one that an answer allows. Redis read its clock between question and
 * answer, so the true offset lies between `least` and `most`. An offset between them stays: a slow answer
 * cannot make the clock run backwards.
 */
export function correctedOffset(offset: number, least: number, most: number): number {
  return Math.min(Math.max(offset, least), most);
}
