import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript, loadScript } from '../redis/scripts.ts';
import { decodeRecord, UnreadableRecordError, type OnUnreadable } from '../redis/unreadable-record.ts';
import {
  type Checkpoint,
  fitting,
  type LogEntry,
  type LogRead,
  type OutlinedEntry,
  type StreamEntry,
  toOutline,
  withBody,
} from './timeline.ts';

export type { LogEntry, LogRead, OutlinedEntry };

/** The log of events of each account: appended to by detection, followed by subscriptions, trimmed by age. */
export type EventLog = ReturnType<typeof createEventLog>;

/** See `EventLog`. */
export type LogOutline = (account: string, position: number, count: number) => Promise<OutlinedEntry[]>;

/**
 * Maximum bytes of bodies that are read from Redis in one command, during which it serves no other client.
 */
export const bodiesAtOnceMax = 1024 * 1024;

// Maximum number of entries that are looked up at once by their positions.
const outlinesAtOnce = 500;

// Maximum number of entries after a position that one script reads.
const outlinedAtOnce = 200;

// Maximum number of entries that one script removes, and maximum bytes of their bodies. They bound the time
// that it keeps Redis busy.
const trimBatch = 200;
const trimBytes = 2 * 1024 * 1024;

// Entries as one text: ioredis takes ten times as long for a reply of many small values.
//
// KEYS   1 the log's entries
// ARGV   1 first and 2 last id, as XRANGE takes them  3 maximum number of entries  4 '1' = the newest first
// Reply  the entries as XRANGE gives them, as JSON
const outlineScript = defineScript(`
local found = ARGV[4] == '1' and redis.call('XREVRANGE', KEYS[1], ARGV[2], ARGV[1], 'COUNT', ARGV[3])
  or redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[2], 'COUNT', ARGV[3])
return #found == 0 and '[]' or cjson.encode(found)`);

/** The log in Redis: a stream of entries per account, with ids `<position>-0`, and a hash of their bodies. */
export function createEventLog(redis: RedisClient, keys: Keys, onUnreadable: OnUnreadable = () => undefined) {
  const commonScript = loadScript(new URL('common-position.lua', import.meta.url));
  const trimScript = loadScript(new URL('trim-events.lua', import.meta.url));

  async function readOutline(
    account: string,
    [first, last]: readonly [string, string],
    count: number,
    order: 'oldest first' | 'newest first',
  ): Promise<OutlinedEntry[]> {
    const newestFirst = order === 'newest first' ? '1' : '';
    const { events } = keys.account(account);
    const reply = await outlineScript.run(redis, [events], [first, last, count, newestFirst]);
    return (JSON.parse(reply as string) as StreamEntry[]).map(toOutline);
  }

  const outlineAfter: LogOutline = async (account, position, count) => {
    const entries: OutlinedEntry[] = [];
    while (entries.length < count) {
      const wanted = Math.min(outlinedAtOnce, count - entries.length);
      const from = entries.at(-1)?.position ?? position;
      // Each read continues after the last entry of the previous one.
      const some = await readOutline(account, [`(${from}-0`, '+'], wanted, 'oldest first');
      entries.push(...some);
      if (some.length < wanted) break;
    }
    return entries;
  };

  async function outlineAt(account: string, positions: readonly number[]): Promise<(OutlinedEntry | null)[]> {
    const { events } = keys.account(account);
    const one = (position: number) => redis.xrangeBuffer(events, `${position}-0`, `${position}-0`);
    const found: (OutlinedEntry | null)[] = [];
    for (let from = 0; from < positions.length; from += outlinesAtOnce)
      // Part by part: a filing may have a hundred thousand events.
      for (const [entry] of await Promise.all(positions.slice(from, from + outlinesAtOnce).map(one)))
        found.push(entry === undefined ? null : toOutline(entry));
    return found;
  }

  async function loadSome(account: string, entries: readonly OutlinedEntry[]): Promise<(LogEntry | null)[]> {
    if (entries.length === 0) return [];
    const positions = entries.map(({ position }) => position);
    const bodies = await redis.hmgetBuffer(keys.account(account).bodies, ...positions.map(String));
    return entries.map((entry, i) => withBody(entry, bodies[i] ?? null));
  }

  async function load(account: string, entries: readonly OutlinedEntry[]): Promise<(LogEntry | null)[]> {
    const loaded: (LogEntry | null)[] = [];
    while (loaded.length < entries.length) {
      const next = fitting(entries.slice(loaded.length), bodiesAtOnceMax);
      // Commands run one after the other, so Redis serves other clients in between.
      loaded.push(...(await loadSome(account, next)));
    }
    return loaded;
  }

  async function positionsOfAll(account: string, ids: readonly string[]): Promise<Map<string, number[]>> {
    if (ids.length === 0) return new Map();
    const listed = await redis.hmget(keys.account(account).filingEvents, ...ids);
    const [oldest] = listed.some((text) => text !== null) ? await outlineAfter(account, 0, 1) : [];
    const first = oldest?.position ?? Number.POSITIVE_INFINITY;
    return new Map(
      ids.flatMap((id, i): [string, number[]][] => {
        const positions = (listed[i] ?? '')
          .split(',')
          .map(Number)
          // The daemon writes positions only, so other values are left out.
          .filter((position) => Number.isSafeInteger(position) && position >= first);
        return positions.length === 0 ? [] : [[id, positions]];
      }),
    );
  }

  // The entries without a body that were not trimmed together with it meanwhile.
  async function stillThere(account: string, entries: readonly OutlinedEntry[]): Promise<OutlinedEntry[]> {
    const found = await outlineAt(
      account,
      entries.map(({ position }) => position),
    );
    return found.filter((entry) => entry !== null);
  }

  async function readFirst(account: string, outline: readonly OutlinedEntry[]): Promise<LogRead> {
    const some = fitting(outline, bodiesAtOnceMax);
    const loaded = await loadSome(account, some);
    const entries = loaded.filter((entry) => entry !== null);
    const found = { entries, more: some.length < outline.length };
    if (entries.length === some.length) return found;
    const lost = await stillThere(
      account,
      some.filter((_, i) => loaded[i] === null),
    );
    for (const { position } of lost)
      onUnreadable(account, lostBody(keys.account(account).bodies, position), 'left_out');
    return lost.length === 0 ? found : { ...found, lost };
  }

  async function read(account: string, position: number, count: number): Promise<LogRead> {
    const outline = await outlineAfter(account, position, count);
    const first = await readFirst(account, outline);
    return { ...first, more: first.more || outline.length === count };
  }

  return {
    /** The newest event ever written; position 0 before the first. */
    async head(account: string): Promise<Checkpoint> {
      const key = keys.account(account).head;
      return decodeRecord(key, null, (await redis.get(key)) ?? '0', toCheckpoint);
    },
    /**
     * The newest position that the log shares with the one a checkpoint was taken from: the checkpoint's own
     * unless Redis was set back since. Then it is at most 31, 1 023 or 32 767 entries before the point of
     * divergence: the longer ago that is, the further before it. Trimmed entries count as shared.
     */
    async commonWith(account: string, { position, timeline }: Checkpoint): Promise<Checkpoint> {
      const { head, events } = keys.account(account);
      const reply = await commonScript.run(redis, [head, events], [position, timeline]);
      const [common, itsTimeline] = reply as [number, string];
      return { position: common, timeline: itsTimeline };
    },
    /**
     * The next entries after a checkpoint, oldest first: up to `count`, or fewer if their bodies exceed a
     * megabyte.
     */
    readAfter: (account: string, after: Checkpoint, count: number): Promise<LogRead> =>
      read(account, after.position, count),
    /**
     * The entries at these positions that are still in the log: fewer, with `more`, if their bodies exceed a
     * megabyte.
     */
    readAt: async (account: string, positions: readonly number[]): Promise<LogRead> => {
      const outline = await outlineAt(account, positions);
      return readFirst(
        account,
        outline.filter((entry) => entry !== null),
      );
    },
    /** Up to `count` entries after a position, oldest first, without their bodies; 200 of them are atomic. */
    outlineAfter,
    /** Up to `count` entries before a position, newest first, without their bodies. */
    outlineBefore: (account: string, position: number, count: number): Promise<OutlinedEntry[]> =>
      readOutline(account, ['-', `(${position}-0`], count, 'newest first'),
    /** The entries at these positions without their bodies; null for trimmed ones. */
    outlineAt,
    /** Adds the bodies to entries, reading a megabyte at a time; null for entries trimmed meanwhile. */
    load,
    /** Positions of a filing's events still in the log, oldest first. */
    positionsOf: async (account: string, filingId: string): Promise<number[]> =>
      (await positionsOfAll(account, [filingId])).get(filingId) ?? [],
    /**
     * The newest event of a wanted type for each of these filings, or null if the log has none. `kept` is the
     * number of all events of the filing still in the log. Filings without events are missing.
     */
    async newestOf(
      account: string,
      filingIds: readonly string[],
      isWanted: (type: string) => boolean,
    ): Promise<ReadonlyMap<string, { readonly entry: OutlinedEntry | null; readonly kept: number }>> {
      const positions = await positionsOfAll(account, filingIds);
      const found = new Map<string, { entry: OutlinedEntry | null; kept: number }>();
      for (const [id, { length }] of positions) found.set(id, { entry: null, kept: length });
      let open = [...positions];
      for (let back = 1; open.length > 0; back += 1) {
        open = open.filter(([, all]) => all.length >= back);
        // Nearly always the newest is wanted, so older ones are seldom read.
        const entries = await outlineAt(
          account,
          open.map(([, all]) => all.at(-back) ?? 0),
        );
        open = open.filter(([id, { length }], i) => {
          const entry = entries[i] ?? null;
          if (entry === null || !isWanted(entry.type)) return true;
          found.set(id, { entry, kept: length });
          return false;
        });
      }
      return found;
    },
    /**
     * Removes the oldest entries, with their bodies and what points at them: those recorded before a time
     * (ms), and those behind which `bytesMax` bytes stand. `dropped` is the number of the latter.
     */
    async trim(
      account: string,
      before: number,
      bytesMax: number = Number.MAX_SAFE_INTEGER,
    ): Promise<{ readonly removed: number; readonly dropped: number }> {
      const { events, bodies, filingEvents, polling } = keys.account(account);
      let [removed, dropped] = [0, 0];
      for (;;) {
        // Short scripts: Redis serves other clients in between.
        const reply = (await trimScript.run(
          redis,
          [events, bodies, filingEvents, polling],
          [before, trimBatch, trimBytes, bytesMax],
        )) as [number, number];
        if (reply[0] === 0) return { removed, dropped };
        removed += reply[0];
        dropped += reply[1];
      }
    },
  };
}

/** The report of an event whose body cannot be read. */
export function lostBody(key: string, position: number): UnreadableRecordError {
  const reason = 'the body of this event is missing or not the one that was written';
  return new UnreadableRecordError(key, String(position), reason);
}

/** Reads the stored head: a position followed by the timeline. Null if the text is anything else. */
export function toCheckpoint(text: string): Checkpoint | null {
  const [, position, timeline = ''] = /^(\d{1,16}) ?([0-9a-f]*)$/i.exec(text) ?? [];
  return position === undefined ? null : { position: Number(position), timeline };
}
