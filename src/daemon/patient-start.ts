import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RedisConnections } from '../redis/connection/connect.ts';
import { explainMissing, MissingRedisError } from '../redis/connection/missing-redis.ts';
import { isStoreFailure } from '../redis/store-failure.ts';

/** A start that waits for Redis, and begins anew when it loses it on the way. */
export interface PatientStart {
  /** What it waits for and what to do, for everybody to see. */
  reason(): string;
  /**
   * Waits for these to be ready. Without a signal it gives up after ten seconds and rejects with
   * MissingRedisError.
   */
  untilRedis(connections: RedisConnections): Promise<void>;
  /**
   * Carries out `attempt`, again and again while it fails because Redis is away; whatever else it fails with
   * is thrown, and with the signal aborted everything. Without a signal it is carried out once.
   */
  run<T>(attempt: () => Promise<T>): Promise<T>;
}

// Milliseconds until the first line about a Redis that is waited for, and between two of them.
const tellAfterMs = 1_000;
const tellEveryMs = 5_000;
const giveUpMs = 10_000;
const againMs = 1_000;

/** A start that waits until `signal` aborts. Each line names the address, without user and password. */
export function createPatientStart(logger: Logger, signal: AbortSignal | undefined): PatientStart {
  let reason = 'The daemon is starting.';

  function tell(error: Error, redis?: string): void {
    const why = error instanceof MissingRedisError ? error.reason : error.message;
    const problem = explainMissing(why);
    reason = `The daemon waits for Redis. ${problem}`;
    logger.warn({ redis, variable: 'REDIS_URL', reason: why, problem }, 'redis.waiting');
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
    reason: () => reason,
    async untilRedis(connections) {
      if (signal === undefined) await connections.untilReady(giveUpMs);
      else await untilReady(connections, signal);
    },
    async run(attempt) {
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
