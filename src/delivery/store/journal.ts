import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import { decodeRecord, readOrLeaveOut, type OnUnreadable } from '../../redis/unreadable-record.ts';
import { parseListed, type Attempt, type ListedAttempt, type ListedDeadLetter } from './delivery-records.ts';

/** The lists of a subscription: its attempts, and its dead letters. */
interface Lists {
  readonly attempts: ListedAttempt;
  readonly dead: ListedDeadLetter;
}

/** A stretch of a list; records are named by their ids. */
export interface Stretch<T> {
  readonly order: 'oldest' | 'newest';
  /** The first and the last id, as XRANGE takes them: a leading `(` leaves the record itself out. */
  readonly from: string;
  readonly to: string;
  /** Members with these values, which the records must have; missing for all records. */
  readonly having?: Partial<T>;
  /** Maximum number of records read, and of records found. */
  readonly readMax: number;
  readonly wanted: number;
  /** Ends the search with the record for which it is true. */
  readonly until?: (record: T) => boolean;
}

/** The records found in a stretch, in its order. One that cannot be read is reported and left out. */
export interface Found<T> {
  readonly found: readonly T[];
  /** The start of the rest, as XRANGE takes it. Null at the end of the stretch. */
  readonly next: string | null;
  /** Number of records read. */
  readonly read: number;
}

/** A page of a list, with the id to continue from; null at its end. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** The journal of deliveries: attempts and dead letters, each list in a stream per subscription. */
export type Journal = ReturnType<typeof createJournal>;

/** Maximum number of records that one step reads: an attempt may have three kilobytes. */
export const readAtOnce = 500;

/**
 * The journal in Redis. Each test call may remove attempts from before `oldestKept` (milliseconds on Redis's
 * clock; null removes none), and the oldest of a subscription that take more than its equal share of
 * `bytesMax`, the bytes of attempts and dead letters that an account keeps.
 */
export function createJournal(
  redis: RedisClient,
  keys: Keys,
  oldestKept: (now: number) => number | null,
  bytesMax: number,
  onUnreadable: OnUnreadable = () => undefined,
) {
  const script = loadScript(new URL('read-journal.lua', import.meta.url));
  const addTest = loadScript(new URL('add-test.lua', import.meta.url));

  /** Reads a stretch in steps that each keep Redis busy for a millisecond. */
  async function read<Name extends keyof Lists>(
    account: string,
    subscription: string,
    list: Name,
    { order, from, to, having = {}, readMax, wanted, until }: Stretch<Lists[Name]>,
  ): Promise<Found<Lists[Name]>> {
    const key = keys.account(account).subscription(subscription)[list];
    const members = Object.entries<unknown>(having);
    const texts = members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    const found: Lists[Name][] = [];
    let [next, count]: [string | null, number] = [from, 0];
    while (next !== null && count < readMax && found.length < wanted) {
      const missing = wanted - found.length;
      const most = Math.min(readAtOnce, readMax - count, members.length === 0 ? missing : Infinity);
      const args = [order === 'oldest' ? '1' : '', next, to, most, Math.min(most, missing)];
      // Each step continues from the previous one.
      const reply = await script.run(redis, [key], [...args, ...texts]);
      const [some, last, ...flat] = reply as [number, string, ...string[]];
      count += some;
      next = last === '' ? null : `(${last}`;
      for (let i = 0; i < flat.length; i += 2) {
        const [id = '', text = ''] = [flat[i], flat[i + 1]];
        const decoded = readOrLeaveOut(account, onUnreadable, () => decodeRecord(key, id, text, parseListed));
        for (const each of decoded) {
          const record = { ...each, id } as Lists[Name];
          // The text may have been that of another object within the record.
          if (members.some(([name, value]) => record[name as keyof Lists[Name]] !== value)) continue;
          found.push(record);
          if (until?.(record) === true) return { found, next: `(${id}`, read: count };
        }
      }
    }
    return { found, next, read: count };
  }

  return {
    /**
     * Adds the attempt of a test call and changes nothing else. Adds nothing if the subscription is gone.
     * `now` is in milliseconds on Redis's clock.
     */
    async addTest(account: string, subscription: string, attempt: Attempt, now: number): Promise<void> {
      const key = keys.account(account);
      const used = [key.subscriptions, key.subscription(subscription).attempts, key.polling];
      const kept = Math.max(0, oldestKept(now) ?? 0);
      await addTest.run(redis, used, [subscription, kept, bytesMax, JSON.stringify(attempt)]);
    },
    read,
    /**
     * A page, newest first; `before` is the `next` of the page before. Only records written after the one
     * whose id is `after`, if given.
     */
    async list<Name extends keyof Lists>(
      account: string,
      subscription: string,
      list: Name,
      before: string | null,
      limit: number,
      after?: string,
    ): Promise<Listed<Lists[Name]>> {
      const [from, to] = [before === null ? '+' : `(${before}`, after === undefined ? '-' : `(${after}`];
      const stretch = { order: 'newest', from, to, readMax: Infinity, wanted: limit + 1 } as const;
      const { found } = await read(account, subscription, list, stretch);
      const items = found.slice(0, limit);
      return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
    },
  };
}
