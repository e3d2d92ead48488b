import type { RedisClient } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { committing, loadScript } from '../redis/scripts.ts';
import { countLosses } from '../redis/connection-losses.ts';
import type { NewEvent } from './event.ts';
import { createRecentReads } from './recent-reads.ts';

/** An event in an account's log. Positions count from 1 without gaps, so a lag is a subtraction. */
export interface LogEntry {
  readonly position: number;
  readonly id: string;
  readonly type: string;
  /** Empty for operational events. */
  readonly filingId: string;
  /** State abbreviation; empty where unknown. */
  readonly state: string;
  /** When it was written, milliseconds on Redis's clock. */
  readonly recordedAt: number;
  /** The bytes to sign and send. */
  readonly body: Buffer;
}

/** The log of events of each account: appended to by detection, followed by subscriptions, trimmed by age. */
export interface EventLog {
  /** Position of the newest event ever written, 0 before the first. */
  head(account: string): Promise<number>;
  /** Up to `count` entries after a position, oldest first; empty at the end. Trimmed positions are skipped. */
  readAfter(account: string, position: number, count: number): Promise<LogEntry[]>;
  /** Up to `count` entries before a position, newest first; empty at the beginning. */
  readBefore(account: string, position: number, count: number): Promise<LogEntry[]>;
  /** The entries at these positions; null for those that were trimmed. */
  readAt(account: string, positions: readonly number[]): Promise<(LogEntry | null)[]>;
  /** Positions of a filing's events still in the log, oldest first. */
  positionsOf(account: string, filingId: string): Promise<number[]>;
  /** Appends an operational event and returns its position. A crash leaves either all of it or nothing. */
  append(account: string, event: NewEvent, at: number): Promise<number>;
  /** Drops entries recorded before a time (ms), oldest first, and what points at them; returns how many went. */
  trim(account: string, before: number): Promise<number>;
}

const trimBatch = 500;

/** The log in Redis streams, one per account, with ids `<position>-0`. */
export function createEventLog(redis: RedisClient, keys: Keys): EventLog {
  const appendScript = committing(loadScript(new URL('append-event.lua', import.meta.url)));
  const trimScript = loadScript(new URL('trim-events.lua', import.meta.url));

  const losses = countLosses(redis);
  const recently = createRecentReads({ losses, now: Date.now });

  async function range(account: string, from: string, to: string, count: number): Promise<LogEntry[]> {
    const reply = await redis.xrangeBuffer(keys.account(account).events, from, to, 'COUNT', count);
    return reply.map(toLogEntry);
  }

  async function readAt(account: string, positions: readonly number[]): Promise<(LogEntry | null)[]> {
    const one = (position: number) => range(account, `${position}-0`, `${position}-0`, 1);
    return (await Promise.all(positions.map(one))).map(([entry]) => entry ?? null);
  }

  return {
    head: async (account) => Number((await redis.get(keys.account(account).head)) ?? 0),
    readAfter: (account, position, count) =>
      recently(`${account} ${position} ${count}`, count, () =>
        range(account, `${position + 1}-0`, '+', count),
      ),
    async readBefore(account, position, count) {
      const { events } = keys.account(account);
      const reply = await redis.xrevrangeBuffer(events, `(${position}-0`, '-', 'COUNT', count);
      return reply.map(toLogEntry);
    },
    readAt,
    async positionsOf(account, filingId) {
      const key = keys.account(account);
      const listed = await redis.hget(key.filingEvents, filingId);
      if (listed === null) return [];
      const [oldest] = await range(account, '-', '+', 1);
      const first = oldest?.position ?? Number.POSITIVE_INFINITY;
      return listed
        .split(',')
        .map(Number)
        .filter((position) => position >= first);
    },
    async append(account, event, at) {
      const key = keys.account(account);
      return Number(
        await appendScript.run(redis, [key.head, key.events], [event.id, event.type, String(at), event.body]),
      );
    },
    async trim(account, before) {
      const key = keys.account(account);
      let gone = 0;
      for (;;) {
        // Short scripts, so that others get their turn in between.
        // oxlint-disable-next-line no-await-in-loop
        const some = Number(await trimScript.run(redis, [key.events, key.filingEvents], [before, trimBatch]));
        gone += some;
        if (some < trimBatch) return gone;
      }
    },
  };
}

/** An entry as XRANGE gives it to those who read the stream in a script. */
export function toLogEntry([streamId, fields]: readonly [Buffer, readonly Buffer[]]): LogEntry {
  const field = (index: number) => fields[index] ?? Buffer.alloc(0);
  return {
    position: Number.parseInt(streamId.toString(), 10),
    id: field(1).toString(),
    type: field(3).toString(),
    filingId: field(5).toString(),
    state: field(7).toString(),
    recordedAt: Number(field(9).toString()),
    body: field(11),
  };
}
