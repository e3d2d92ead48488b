import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';

/**
 * Milliseconds on Redis's clock until which subscriptions of an account rest, Infinity while disabled: of
 * these ids, or of all that rest. One that has no entry may be called.
 */
export async function readResting(
  redis: RedisClient,
  keys: Keys,
  account: string,
  ids: readonly string[] | null = null,
): Promise<ReadonlyMap<string, number>> {
  const { resting } = keys.account(account);
  if (ids === null) {
    const all = Object.entries<string>(await redis.hgetall(resting));
    return new Map(all.map(([id, text]) => [id, restOf(text)]));
  }
  const texts = ids.length === 0 ? [] : await redis.hmget(resting, ...ids);
  return new Map(
    ids.flatMap((id, i) => {
      const text = texts[i] ?? null;
      return text === null ? [] : [[id, restOf(text)] as const];
    }),
  );
}

// A text that is not a number counts as a rest that is over; the next drain finds out.
function restOf(text: string): number {
  return text === 'disabled' ? Infinity : Number(text) || 0;
}
