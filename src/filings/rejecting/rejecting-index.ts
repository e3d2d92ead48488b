import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import type { FilingCommit } from '../detection/decide-commit.ts';
import { seenStatus } from '../seen/seen-mark.ts';

/**
 * An account that may have rejections. All that it has are within these times, ms on Redis's clock; null
 * where they are not known.
 */
export interface RejectingAccount {
  readonly account: string;
  readonly since: { readonly oldest: number; readonly newest: number } | null;
}

/**
 * The accounts with rejections, found without reading the others. An account's keys are in another slot, so
 * it is noted before its first rejection is written, and stays for some time after its last one: a crash in
 * between leaves an account too many, never one too few. Accounts that a part of a cluster loses are
 * found again by `mend`.
 */
export interface RejectingAccounts {
  /**
   * To be called before a batch is written; one command where it has rejections. Notes nothing of an account
   * that is gone.
   */
  announce(account: string, batch: readonly FilingCommit[]): Promise<void>;
  /** All of them, in no order, read in slices. */
  all(): Promise<RejectingAccount[]>;
  /**
   * Notes what an account has now, and forgets it where it has none. Two commands where nothing is to be
   * done; nothing is changed that was announced in the last ten minutes.
   */
  mend(account: string): Promise<void>;
}

export interface RejectingAccountsDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** Since when its oldest and its newest rejection are rejected; null where it has none. */
  readonly span: (account: string) => Promise<RejectingAccount['since']>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

// Milliseconds after which a commit that was announced has been written.
const announcedMs = 600_000;
const readAtOnce = 1_000;
const anyTime = { oldest: 0, newest: 999_999_999_999_999 };

/** The accounts in one hash. */
export function createRejectingAccounts({
  redis,
  keys,
  span,
  now,
}: RejectingAccountsDeps): RejectingAccounts {
  const mendScript = loadScript(new URL('mend-rejecting.lua', import.meta.url));
  const { rejecting } = keys.accountLists;

  return {
    announce: createRejectionNotes(redis, keys),
    async all() {
      const found = new Map<string, string>();
      let cursor = '0';
      do {
        // Redis serves others between two slices; a field may come twice.
        const [next, flat] = await redis.hscan(rejecting, cursor, 'COUNT', readAtOnce);
        for (let i = 0; i < flat.length; i += 2) found.set(flat[i] ?? '', flat[i + 1] ?? '');
        cursor = next;
      } while (cursor !== '0');
      return Array.from(found, ([account, note]) => ({ account, since: readNote(note)?.since ?? null }));
    },
    async mend(account) {
      const [note, count] = await Promise.all([
        redis.hget(rejecting, account),
        redis.hget(keys.account(account).counts, seenStatus),
      ]);
      const known = note === null ? null : readNote(note);
      const has = Number(count ?? 0) > 0;
      if (note === null && !has) return;
      if (known !== null && Math.abs(now() - known.at) < announcedMs) return;
      // Where there are rejections that the lists by age do not show, they may be of any time.
      const since = has ? ((await span(account)) ?? anyTime) : null;
      const mended = since === null ? '' : `${since.oldest} ${since.newest} 0`;
      if (mended !== (note ?? '') || mended === '')
        await mendScript.run(redis, [keys.accounts, rejecting], [account, note ?? '-', mended]);
    },
  };
}

/** The part of `RejectingAccounts` that commits need. */
export function createRejectionNotes(redis: RedisClient, keys: Keys): RejectingAccounts['announce'] {
  const script = loadScript(new URL('announce-rejections.lua', import.meta.url));
  return async (account, batch) => {
    const times = batch.flatMap(({ previous, next }) => {
      const isRejected = next.status === seenStatus && !next.removed;
      const was = previous?.state ?? null;
      const isAsBefore =
        was !== null && was.status === next.status && !was.removed && was.since === next.since;
      return isRejected && !isAsBefore ? [Math.max(0, Math.trunc(next.since))] : [];
    });
    if (times.length === 0) return;
    const [oldest, newest] = [Math.min(...times), Math.max(...times)];
    await script.run(redis, [keys.accounts, keys.accountLists.rejecting], [account, oldest, newest]);
  };
}

function readNote(note: string): { since: NonNullable<RejectingAccount['since']>; at: number } | null {
  const [, oldest, newest, at] = /^(\d{1,15}) (\d{1,15}) (\d{1,15})$/.exec(note) ?? [];
  if (oldest === undefined) return null;
  return { since: { oldest: Number(oldest), newest: Number(newest) }, at: Number(at) };
}
