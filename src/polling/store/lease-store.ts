import type { RedisClient } from '../../redis/connection/connect.ts';
import type { AccountKeys, Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import { UnreadableRecordError, type OnUnreadable } from '../../redis/unreadable-record.ts';

/** The requested kind of poll: a sweep reads everything, a delta only the parts that may have changed. */
export type PollMode = 'delta' | 'sweep';

/** A poll's claim to its account. */
export interface PollLease {
  readonly mode: PollMode;
  /** Unique to the poll. */
  readonly holder: string;
  readonly ms: number;
  /** True from the begin of the poll until its marks are written, as far as this process knows. */
  isHeld: boolean;
}

/**
 * A function of scripts, with the lease's key, the holder and milliseconds. Returns 0 when another holder has
 * it, 1 when it is the holder's, 2 when it held what no holder can have written (another type, or no end),
 * which is replaced. A lease that lasts longer than any was written before Redis's clock was set back, and is
 * replaced too.
 */
export const takeLease = `
local function take_lease(key, wanted, ms)
  local holder, taken = redis.pcall('GET', key), 1
  if type(holder) == 'table' then
    redis.call('DEL', key)
    taken = 2
  elseif holder and holder ~= wanted then
    local left = redis.call('PTTL', key)
    if left >= 0 and left <= tonumber(ms) then return 0 end
    taken = left < 0 and 2 or 1
  end
  redis.call('SET', key, wanted, 'PX', ms)
  return taken
end`;

// KEYS 1 the lease. ARGV holder, milliseconds. Replies as `take_lease`.
const keepLease = defineScript(`${takeLease}
return take_lease(KEYS[1], ARGV[1], ARGV[2])`);

// KEYS 1 the lease. ARGV holder.
const dropLease = defineScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
);

/** The key of the lease for a kind of poll. */
export function leaseKey({ lease, sweepLease }: AccountKeys, mode: PollMode): string {
  return mode === 'sweep' ? sweepLease : lease;
}

/** Leases in Redis. */
export function createLeaseStore(redis: RedisClient, keys: Keys, onUnreadable: OnUnreadable) {
  const keyOf = (account: string, mode: PollMode) => leaseKey(keys.account(account), mode);
  return {
    /**
     * Leases the account to `holder` for `ms` milliseconds, or extends its lease. False while another holder
     * has it, whose lease lasts no longer than that.
     */
    async lease(account: string, mode: PollMode, holder: string, ms: number): Promise<boolean> {
      const key = keyOf(account, mode);
      const reply = await keepLease.run(redis, [key], [holder, ms]);
      if (reply === 2) onUnreadable(account, new UnreadableRecordError(key, null), 'set_aside');
      return reply !== 0;
    },
    /** Ends the lease if it is still the holder's. */
    async release(account: string, mode: PollMode, holder: string) {
      await dropLease.run(redis, [keyOf(account, mode)], [holder]);
    },
  };
}
