import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RedisConnections } from '../redis/connection/connect.ts';
import { explainMissing, MissingRedisError } from '../redis/connection/missing-redis.ts';
import { isStoreFailure } from '../redis/store-failure.ts';

// Milliseconds of waiting before the first line in the log, and between two lines.
const tellAfterMs = 1_000;
const tellEveryMs = 5_000;
const giveUpMs = 10_000;
const againMs = 1_000;

/**
 * A start that waits for Redis until `signal` aborts, and begins again when Redis goes away during the start.
 * Each line in the log names the address, without user and
 * password.
 */
export function createPatientStart(logger: Logger, signal: AbortSignal | undefined) {
  let reason = 'The daemon is starting.';

  function tell(error: Error, redis?: string): void {
    const why = error instanceof MissingRedisError ? error.reason : error.message;
    const problem = explainMissing(why);
    reason = `The daemon waits for Redis. ${problem}`;
    const waiting =
      redis === undefined ? problem : `waiting for Redis at ${redis}; set REDIS_URL. ${problem}`;
    logger.warn({ redis, variable: 'REDIS_URL', reason: why, problem: waiting }, 'redis.waiting');
  }

  async function untilReady(connections: RedisConnections, end: AbortSignal): Promise<void> {
    const aborted = new Promise<never>((_, reject) => {
      end.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
    });
    for (let waitMs = tellAfterMs; ; waitMs = tellEveryMs) {
      end.throwIfAborted();
      try {
        return await Promise.race([connections.untilReady(waitMs), aborted]);
      } catch (error) {
        if (!(error instanceof MissingRedisError)) throw error;
        tell(error, connections.describe);
      }
    }
  }

  return {
    /** The reason of the wait and what to do; may be shown to anyone. */
    reason: () => reason,
    /**
     * Resolves when these connections are ready. Without a signal it rejects with MissingRedisError after ten
     * seconds.
     */
    async untilRedis(connections: RedisConnections): Promise<void> {
      if (signal === undefined) await connections.untilReady(giveUpMs);
      else await untilReady(connections, signal);
    },
    /**
     * Runs `attempt` until it succeeds, and repeats it while it fails because Redis is away. Any other error
     * is thrown, as is every error once the signal has aborted. Without a signal there is one attempt.
     */
    async run<T>(attempt: () => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await attempt();
        } catch (error) {
          if (signal === undefined || signal.aborted || !isStoreFailure(error)) throw error;
          tell(error as Error);
          await delay(againMs, undefined, { signal });
        }
      }
    },
  };
}
