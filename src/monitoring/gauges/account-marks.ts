import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';

/** What was marked of an account: only its polls went on, or anything about it may have changed. */
export type MarkKind = 'polled' | 'changed';

/**
 * Marks accounts for the gauges of all processes. Marks are written together, within a moment. Those that a
 * crash or a Redis that is away has kept from being written are made up for: every process that is scraped
 * reads each account again now and then.
 */
export interface AccountMarks {
  /** A poll of the account has ended, or a part of it that writes marks. */
  polled(account: string): void;
  /** The account's filings, log, subscriptions or settings may have changed. */
  changed(account: string): void;
  /** Writes the marks that are held; they stay where Redis refuses. */
  flush(): Promise<void>;
  /** Stops after one more flush. */
  close(): Promise<void>;
}

/** Reads marks one after the other. */
export interface AccountMarkReads {
  /** The place of the newest mark. */
  newest(kind: MarkKind): Promise<number>;
  /** Up to a thousand accounts that were marked after a place, and their places, in their order. */
  after(kind: MarkKind, place: number): Promise<(readonly [account: string, place: number])[]>;
}

// Milliseconds within which marks are written.
const flushMs = 500;
// Microseconds that a mark is kept: whoever has not read it by then reads every account anew.
const keptMicros = 3_600_000_000;
const readAtOnce = 1_000;

// Each mark has a place of its own: the microsecond on the clock of the server, or the next one after the
// newest mark, so that a clock that steps back hides none.
//
// KEYS   1 the marks
// ARGV   1 microseconds that a mark is kept  then the accounts
const writeScript = defineScript(`
local marks = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local newest = redis.call('ZRANGE', marks, -1, -1, 'WITHSCORES')[2]
local place = math.max(now, newest and tonumber(newest) + 1 or 0)
for i = 2, #ARGV do
  redis.call('ZADD', marks, string.format('%.0f', place), ARGV[i])
  place = place + 1
end
redis.call('ZREMRANGEBYSCORE', marks, '-inf', string.format('%.0f', now - ARGV[1]))
redis.call('PEXPIRE', marks, string.format('%.0f', ARGV[1] / 1000))
return 1`);

/** Marks in Redis, one sorted set of each kind. */
export function createAccountMarks(
  redis: RedisClient,
  keys: Keys,
  onError: (error: Error) => void,
): AccountMarks & AccountMarkReads {
  const held: Record<MarkKind, Set<string>> = { polled: new Set(), changed: new Set() };
  let timer: NodeJS.Timeout | null = null;

  function mark(kind: MarkKind, account: string): void {
    held[kind].add(account);
    timer ??= setTimeout(() => void flush().catch(onError), flushMs).unref();
  }

  async function write(kind: MarkKind): Promise<void> {
    const accounts = [...held[kind]];
    held[kind].clear();
    for (let from = 0; from < accounts.length; from += readAtOnce) {
      try {
        const some = accounts.slice(from, from + readAtOnce);
        await writeScript.run(redis, [keys.marks(kind)], [keptMicros, ...some]);
      } catch (error) {
        for (const account of accounts.slice(from)) held[kind].add(account);
        throw error;
      }
    }
  }

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    await Promise.all([write('changed'), write('polled')]);
  }

  return {
    polled: (account) => mark('polled', account),
    changed: (account) => mark('changed', account),
    flush,
    close: flush,
    async newest(kind) {
      const [, place] = await redis.zrange(keys.marks(kind), '-1', '-1', 'WITHSCORES');
      return Number(place ?? 0);
    },
    async after(kind, place) {
      const flat = await redis.zrangebyscore(
        keys.marks(kind),
        `(${place}`,
        '+inf',
        'WITHSCORES',
        'LIMIT',
        0,
        readAtOnce,
      );
      return Array.from({ length: flat.length / 2 }, (_, i) => [
        flat[2 * i] ?? '',
        Number(flat[2 * i + 1] ?? 0),
      ]);
    },
  };
}
