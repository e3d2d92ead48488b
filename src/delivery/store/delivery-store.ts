import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import { decodeRecord, readOrLeaveOut, type OnUnreadable } from '../../redis/unreadable-record.ts';
import { parseListed, type Attempt, type DeadLetter, type ListedDeadLetter } from './delivery-records.ts';

/** A page of a list, with the id to continue from; null at its end. */
export interface Listed<T> {
  readonly items: T[];
  readonly next: string | null;
}

/** The attempts and dead letters of subscriptions. */
export interface DeliveryStore {
  /**
   * Adds the attempt of a test call, which changes nothing else; not where the subscription is gone. `now`
   * is in milliseconds on Redis's clock.
   */
  addTest(account: string, id: string, attempt: Attempt, now: number): Promise<void>;
  /** Newest first; `before` is the `next` of the page before. */
  attempts(account: string, id: string, before: string | null, limit: number): Promise<Listed<Attempt>>;
  /**
   * Newest first; `before` is the `next` of the page before. Only those written after the one whose id is
   * `after`, if given.
   */
  deadLetters(
    account: string,
    id: string,
    before: string | null,
    limit: number,
    after?: string,
  ): Promise<Listed<ListedDeadLetter>>;
}

// KEYS 1 subscriptions  2 attempts; ARGV subscription id, oldest stream id kept, attempt, maximum bytes of
// the account. Test calls are rare, so the stream is measured at each (settle.lua does so now and then).
const addTest = defineScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return end
redis.call('XADD', KEYS[2], 'MINID', '~', ARGV[2], '*', 'a', ARGV[3])
local share = ARGV[4] * 2 / 3 / redis.call('HLEN', KEYS[1])
local length, bytes = redis.call('XLEN', KEYS[2]), redis.pcall('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', 0)
if type(bytes) ~= 'number' then bytes = length * 1024 end
if bytes > share then redis.call('XTRIM', KEYS[2], 'MAXLEN', '~', math.max(1, math.floor(length * share / bytes))) end`);

/**
 * Attempts and dead letters in Redis. Each write may remove attempts and dead
 * letters from before `oldestKept` (milliseconds on Redis's clock; null removes none), and the oldest of a
 * subscription that take more than its equal share of `bytesMax`, the bytes of them that an account keeps.
 */
export function createDeliveryStore(
  redis: RedisClient,
  keys: Keys,
  oldestKept: (now: number) => number | null,
  bytesMax: number,
  onUnreadable: OnUnreadable = () => undefined,
): DeliveryStore {
  async function list<T>(
    account: string,
    key: string,
    before: string | null,
    limit: number,
    after?: string,
  ): Promise<Listed<T & { readonly id: string }>> {
    const [newest, oldest] = [before === null ? '+' : `(${before}`, after === undefined ? '-' : `(${after}`];
    const entries = await redis.xrevrange(key, newest, oldest, 'COUNT', limit + 1);
    const page = entries.slice(0, limit);
    return {
      items: page.flatMap(([id, fields]) =>
        readOrLeaveOut(account, onUnreadable, () => ({
          ...(decodeRecord(key, id, fields[1] ?? '', parseListed) as T),
          id,
        })),
      ),
      next: entries.length > limit ? (page.at(-1)?.[0] ?? null) : null,
    };
  }

  return {
    async addTest(account, id, attempt, now) {
      const key = keys.account(account);
      const used = [key.subscriptions, key.subscription(id).attempts];
      const kept = Math.max(0, oldestKept(now) ?? 0);
      await addTest.run(redis, used, [id, kept, JSON.stringify(attempt), bytesMax]);
    },
    attempts: (account, id, before, limit) =>
      list<Attempt>(account, keys.account(account).subscription(id).attempts, before, limit),
    deadLetters: (account, id, before, limit, after) =>
      list<DeadLetter>(account, keys.account(account).subscription(id).dead, before, limit, after),
  };
}
