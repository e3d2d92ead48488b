import type { RedisClient } from './redis/connect.ts';
import type { StoreWatch } from './redis/store-watch.ts';

/** Whether the daemon can keep its promise right now, and if not, why and what to do. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** Asks Redis each time. `durabilityProblems` are those found at the start: they stay until they are mended and the daemon is restarted. */
export function createReadiness(
  redis: RedisClient,
  watch: StoreWatch,
  durabilityProblems: readonly string[],
): () => Promise<Readiness> {
  return async () => {
    const reasons = [...durabilityProblems];
    try {
      await watch.check();
      await redis.ping();
    } catch {
      reasons.push('Redis does not answer: check that it runs and that REDIS_URL is right.');
    }
    const problem = watch.problem();
    if (problem !== null) reasons.push(problem);
    return { ready: reasons.length === 0, reasons };
  };
}
