import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { toUnreadable } from '../redis/unreadable-record.ts';

/**
 * Whether an account has no such subscription any more, or not yet. One whose account's subscriptions cannot
 * be read is not taken for gone.
 */
export async function isGone(redis: RedisClient, keys: Keys, account: string, id: string): Promise<boolean> {
  try {
    return (await redis.hexists(keys.account(account).subscriptions, id)) === 0;
  } catch (error) {
    if (toUnreadable(error) === null) throw error;
    return false;
  }
}
