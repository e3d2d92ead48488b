import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';
import type { FilingCommit } from './detection/decide-commit.ts';
import { maySee, seenStatus } from './detection/triage.ts';

/**
 * The accounts that may have rejections, found without reading the others. An account's keys are in another
 * slot, so it is noted before its first rejection is written, and stays for some time after its last one: a
 * crash in between leaves an account too many, never one too few. Accounts that a part of a cluster loses are
 * found again by `mend`.
 */
export type RejectingAccounts = ReturnType<typeof createRejectingAccounts>;

// Milliseconds after which a commit that was announced has been written.
const announcedMs = 600_000;

// KEYS   1 accounts  2 rejecting
// ARGV   1 account
// Reply  1, or 0 with nothing written when the account is gone
const noteScript = defineScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], redis.call('TIME')[1] .. '000', ARGV[1])
return 1`);

// KEYS   1 rejecting
// ARGV   1 account  2 time (ms) of its announcement as it was read
// Reply  1, or 0 with nothing removed if it was announced again
const forgetScript = defineScript(`
return redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] and redis.call('ZREM', KEYS[1], ARGV[1]) or 0`);

/** The accounts in a sorted set, by the time of their last announcement (ms on Redis's clock). */
export function createRejectingAccounts(redis: RedisClient, keys: Keys) {
  const { rejecting } = keys.accountLists;
  const note = async (account: string) => noteScript.run(redis, [keys.accounts, rejecting], [account]);
  return {
    /**
     * Must be called before a batch is written. Sends one command if the batch has rejections. Notes nothing
     * for an account that is gone.
     */
    async announce(account: string, batch: readonly FilingCommit[]) {
      if (batch.some(isNewRejection)) await note(account);
    },
    /** All of them, by the time of their last announcement. */
    all: (): Promise<string[]> => redis.zrange(rejecting, '0', '-1'),
    /**
     * Notes whether an account has any rejections at `now`, in milliseconds on Redis's clock. Sends two
     * commands if there is nothing to do. Accounts announced in the last ten minutes stay.
     */
    async mend(account: string, now: number) {
      const [notedAt, count] = await Promise.all([
        redis.zscore(rejecting, account),
        redis.hget(keys.account(account).counts, seenStatus),
      ]);
      const has = Number(count ?? 0) > 0;
      if (notedAt === null && has) await note(account);
      const isOld = notedAt !== null && Math.abs(now - Number(notedAt)) >= announcedMs;
      if (!has && isOld) await forgetScript.run(redis, [rejecting], [account, notedAt]);
    },
  };
}

function isNewRejection({ previous, next }: FilingCommit): boolean {
  const was = previous?.state ?? null;
  return maySee(next) && (was === null || !maySee(was));
}
