import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';

/** An account and the time of its last poll, in milliseconds on Redis's clock. */
export interface PolledAt {
  readonly account: string;
  readonly at: number;
}

// Milliseconds in which notes of polls are gathered.
const gatherMs = 1_000;
// Accounts that are looked at together, and how often.
const lookedAt = 20;
const looksMax = 20;

/** The times in one sorted set of the deployment. A crash leaves the time of the poll before. */
export function createPollTimes(redis: RedisClient, keys: Pick<Keys, 'polled' | 'accounts'>) {
  const gathered = new Map<string, number>();

  function write(): void {
    const times = [...gathered].flatMap(([account, at]) => [String(at), account]);
    gathered.clear();
    if (times.length > 0) redis.zadd(keys.polled, ...times).catch(() => undefined);
  }

  return {
    /** Notes an account that has not been polled yet, unless a time is noted of it. */
    async noteUnpolled({ account, at }: PolledAt) {
      await redis.zadd(keys.polled, 'NX', String(at), account);
    },
    /**
     * Notes the poll of an account within a second, together with those of other accounts. A note that cannot
     * be written is lost: the account's next poll brings another.
     */
    notePolled({ account, at }: PolledAt) {
      if (gathered.size === 0) setTimeout(write, gatherMs).unref();
      gathered.set(account, at);
    },
    /** Forgets an account that is gone. */
    async forgetPolled(account: string) {
      gathered.delete(account);
      await redis.zrem(keys.polled, account);
    },
    /**
     * The account whose last poll is the oldest, or null if none is noted. On the way it forgets accounts
     * that are gone, a few hundred at most.
     */
    async oldestPolled(): Promise<PolledAt | null> {
      for (let look = 0; look < looksMax; look += 1) {
        const flat = await redis.zrange(keys.polled, '0', String(lookedAt - 1), 'WITHSCORES');
        const names = flat.filter((_, i) => i % 2 === 0);
        if (names.length === 0) return null;
        const kept = await redis.hmget(keys.accounts, ...names);
        const first = kept.findIndex((text) => text !== null);
        const gone = first === -1 ? names : names.slice(0, first);
        if (gone.length > 0) await redis.zrem(keys.polled, ...gone);
        const account = names[first];
        if (account !== undefined) return { account, at: Number(flat[2 * first + 1]) };
      }
      return null;
    },
  };
}
