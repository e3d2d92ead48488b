import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';

/**
 * Maximum number of questions to endpoints a minute, over all processes: of one account, and to one host. An
 * account alone does not use up those to a host, which others need as well.
 */
export const questionsMax = { perAccount: 60, perHost: 240 } as const;

/** The questions that may be asked. */
export interface ProofBudget {
  /**
   * Takes one question of an account to a host; returns the milliseconds until there is one, 0 when it is
   * taken. A question that the host refuses is taken from the account. Rejects when Redis does.
   */
  take(account: string, host: string): Promise<number>;
}

/** Counts in Redis, each kept for a minute. */
export function createProofBudget(redis: RedisClient, keys: Pick<Keys, 'proofs'>): ProofBudget {
  const limiterOf = (points: number) =>
    new RateLimiterRedis({ storeClient: redis, keyPrefix: '', points, duration: 60 });
  const [accounts, hosts] = [limiterOf(questionsMax.perAccount), limiterOf(questionsMax.perHost)];
  return {
    take: async (account, host) =>
      (await takeOf(accounts, keys.proofs('account', account))) || takeOf(hosts, keys.proofs('host', host)),
  };

  async function takeOf(limiter: RateLimiterRedis, key: string): Promise<number> {
    try {
      await limiter.consume(key);
      return 0;
    } catch (refused) {
      if (refused instanceof RateLimiterRes) return Math.max(1, refused.msBeforeNext);
      if (toUnreadable(refused) === null) throw refused;
      await redis.unlink(key);
      return 0;
    }
  }
}
