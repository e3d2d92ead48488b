import type { RedisClient } from '../connection/connect.ts';
import type { Keys } from '../keys.ts';
import { loadScript } from '../scripts.ts';

/** Maximum number of bytes that an account stores through the API (quota.lua). */
export const quotaBytesMax = 32 * 1024 * 1024;

/** An account would store more than it may; nothing was written. */
export class AccountQuotaError extends Error {
  override readonly name = 'AccountQuotaError';
  readonly usedBytes: number;

  constructor(usedBytes: number) {
    super(`the account stores ${usedBytes} bytes and may store ${quotaBytesMax}`);
    this.usedBytes = usedBytes;
  }
}

/** Throws AccountQuotaError if a script has refused a write with the reply `quota <bytes used>`. */
export function throwIfOverQuota(reply: unknown): void {
  const used = typeof reply === 'string' ? /^quota (\d+)$/.exec(reply)?.[1] : undefined;
  if (used !== undefined) throw new AccountQuotaError(Number(used));
}

/** The bytes that an account stores through the API now. Counts all its records once a day. */
export type ReadQuota = (account: string) => Promise<number>;

/** A reader of quotas in Redis. */
export function createQuotaReader(redis: RedisClient, keys: Keys): ReadQuota {
  const script = loadScript(new URL('read-quota.lua', import.meta.url));
  return async (account) => {
    const { quota, subscriptions, registrations, tokens, incarnation } = keys.account(account);
    return Number(await script.run(redis, [quota, subscriptions, registrations, tokens, incarnation], []));
  };
}
