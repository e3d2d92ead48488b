import { randomUUID } from 'node:crypto';
import type { NewEvent } from '../../events/event.ts';
import { toCheckpoint } from '../../events/event-log.ts';
import { withoutPageLinks, type AddPageLink } from '../../events/page-link.ts';
import { SnapshotLostError } from '../../filings/commit/commit-writer.ts';
import { toCounts } from '../../filings/snapshot-store.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import { pairsOf } from '../../redis/hash-fields.ts';
import type { Keys } from '../../redis/keys.ts';
import { committing, defineScript, loadScript } from '../../redis/scripts.ts';
import {
  asideMax,
  asideMs,
  setAside,
  UnreadableRecordError,
  type OnUnreadable,
} from '../../redis/unreadable-record.ts';
import { encodeDoubt, type StandingDoubt } from '../beliefs/doubt.ts';
import { leaseKey, takeLease, type PollLease } from './lease-store.ts';
import { decodeMarks, encodeMarks, unreadableMarks, type MarksUpdate, type PollingMarks } from './marks.ts';

/** An account at the start of a poll, all of one moment. */
export interface OpenedAccount {
  readonly marks: PollingMarks;
  /** Number of filings per status, without removed ones. */
  readonly counts: Readonly<Record<string, number>>;
  /** The missed reads as stored, by the filing's id. */
  readonly missed: Readonly<Record<string, string>>;
  /** The head of the log as stored; equal ones stand for equal logs. */
  readonly head: string;
}

// KEYS 1 the marks  2 counts. Replies the counts as fields and values, and the number of removals.
const readKnown = defineScript(
  `return { redis.call('HGETALL', KEYS[2]), redis.call('HGET', KEYS[1], 'removals') or '0' }`,
);

// KEYS 1 the marks  2 the poll's lease. ARGV generation, number of requests, holder of the lease ('' = none),
// then names and values. Replies all marks as fields and values; nil, with nothing written, when they are of
// another generation. Times only move forward: polls overlap, and each of them is right. Once there is a
// baseline, `hidden` only decreases. Ends the lease in any case.
const writeMarks = defineScript(`
if ARGV[3] ~= '' and redis.pcall('GET', KEYS[2]) == ARGV[3] then redis.call('DEL', KEYS[2]) end
local marks = redis.call('HGETALL', KEYS[1])
local stored = {}
for i = 1, #marks, 2 do stored[marks[i]] = marks[i + 1] end
if stored.generation ~= ARGV[1] then return nil end
local requests = (tonumber(stored.requestsTotal) or 0) + ARGV[2]
local changed = { 'requestsTotal', string.format('%.0f', requests) }
stored.requestsTotal = changed[2]
for i = 4, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  local former = tonumber(stored[name] or 0)
  local isOlder = string.sub(name, -2) == 'At' and tonumber(value) <= former
  local isMore = name == 'hidden' and stored.baselined == 'true' and tonumber(value) > former
  if not isOlder and not isMore and value ~= stored[name] then
    changed[#changed + 1], changed[#changed + 2] = name, value
  end
end
for i = 1, #changed, 2 do stored[changed[i]] = changed[i + 1] end
redis.call('HSET', KEYS[1], unpack(changed))
local reply = {}
for name, value in pairs(stored) do reply[#reply + 1], reply[#reply + 2] = name, value end
return reply`);

const replaceMarks = committing(loadScript(new URL('replace-marks.lua', import.meta.url)));

// KEYS 1 the marks  2 incarnation  3 head  4 log  5 counts  6 missed reads  7 the poll's lease. ARGV
// incarnation, generation, holder of the lease ('' = none), its milliseconds. Replies what `take_lease`
// returns, the head ('' = none), the id of the log's newest entry ('' = none), and the marks, the counts and
// the missed reads as fields and values; nil if the incarnation is another, the incarnation if it is
// garbage, or 0 if another poll has the lease.
const beginScript = defineScript(`${takeLease}
local incarnation = redis.call('GET', KEYS[2])
if incarnation and not string.match(incarnation, '^%l+ ') then return incarnation end
if incarnation and string.sub(incarnation, 1, 5 + #ARGV[1]) ~= 'open ' .. ARGV[1] then return nil end
local lease = ARGV[3] == '' and 1 or take_lease(KEYS[7], ARGV[3], ARGV[4])
if lease == 0 then return 0 end
local function all(key) return redis.call('HGETALL', key) end
local marks, begun = all(KEYS[1]), false
for i = 1, #marks, 2 do begun = begun or marks[i] == 'generation' end
if not begun then
  redis.call('HSET', KEYS[1], 'generation', ARGV[2])
  marks = all(KEYS[1])
end
local newest = redis.call('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 1)[1]
return { lease, redis.call('GET', KEYS[3]) or '', newest and newest[1] or '', marks, all(KEYS[5]), all(KEYS[6]) }`);

// KEYS 1 head  2 log  3 the records set aside. ARGV number of records that are kept, milliseconds for which
// they are kept. No event can be appended before entries beyond the head are gone.
const dropBeyondHead = defineScript(`
local position = string.match(redis.call('GET', KEYS[1]) or '', '^%d+')
if not position then return end
for _, entry in ipairs(redis.call('XRANGE', KEYS[2], '(' .. position .. '-0', '+')) do
  redis.call('XADD', KEYS[3], 'MAXLEN', ARGV[1], '*', 'key', KEYS[2], 'entry', entry[1], unpack(entry[2]))
  redis.call('XDEL', KEYS[2], entry[1])
end
redis.call('PEXPIRE', KEYS[3], ARGV[2])
redis.call('XSETID', KEYS[2], position .. '-0')`);

/** The marks in Redis. */
export function createMarksStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable,
  addPageLink: AddPageLink = withoutPageLinks,
) {
  const keyOf = (account: string) => keys.account(account).polling;

  async function checkLog(account: string, head: string, newest: string): Promise<void> {
    const key = keys.account(account);
    const known = toCheckpoint(head === '' && newest === '' ? '0' : head);
    if (known === null) throw new UnreadableRecordError(key.head, null);
    if (Number(newest.split('-', 1)[0]) <= known.position) return;
    await dropBeyondHead.run(redis, [key.head, key.events, key.unreadable], [asideMax, asideMs]);
    const error = new UnreadableRecordError(key.events, null, 'it has entries beyond its head');
    onUnreadable(account, error, 'set_aside');
  }

  async function withoutUnreadable(account: string, fields: Readonly<Record<string, string>>) {
    const key = keys.account(account);
    const read = { ...fields };
    for (const field of unreadableMarks(fields)) {
      const held = await redis.hgetBuffer(key.polling, field);
      if (held !== null) await setAside(redis, key, { key: key.polling, field, held, value: null });
      onUnreadable(account, new UnreadableRecordError(key.polling, field), 'set_aside');
      delete read[field];
    }
    return read;
  }

  async function open(
    account: string,
    incarnation: string,
    lease?: PollLease,
  ): Promise<OpenedAccount | null> {
    const key = keys.account(account);
    const held = leaseKey(key, lease?.mode ?? 'delta');
    const opened = [key.polling, key.incarnation, key.head, key.events, key.counts, key.missing, held];
    // Counts as held even if the reply is lost.
    if (lease !== undefined) lease.isHeld = true;
    const args = [incarnation, randomUUID(), lease?.holder ?? '', lease?.ms ?? 0];
    const reply = await beginScript.run(redis, opened, args);
    if (reply === null) throw new SnapshotLostError(account);
    if (typeof reply === 'string') throw new UnreadableRecordError(key.incarnation, null);
    if (lease !== undefined) lease.isHeld = reply !== 0;
    if (reply === 0) return null;
    const [taken, head, newest, ...hashes] = reply as [number, string, string, string[], string[], string[]];
    if (taken === 2) onUnreadable(account, new UnreadableRecordError(held, null), 'set_aside');
    await checkLog(account, head, newest);
    const [fields, counts, missed] = hashes.map(toFields) as [Fields, Fields, Fields];
    const marks = decodeMarks(await withoutUnreadable(account, fields));
    return { marks, counts: toCounts(key.counts, counts), missed, head };
  }

  async function replace(
    account: string,
    before: Partial<PollingMarks>,
    after: Partial<PollingMarks>,
    appended?: { readonly event: NewEvent; readonly at: number },
  ): Promise<number | null> {
    const { head, events, bodies, polling } = keys.account(account);
    const event = appended && addPageLink(account, appended.event);
    const said = [appended?.at ?? 0, event?.id ?? '', event?.type ?? '', event?.body ?? ''];
    const marks = [Object.keys(before).length, ...encodeMarks(before), ...encodeMarks(after)];
    const values = [...said, ...marks];
    return (await replaceMarks.run(redis, [head, events, bodies, polling], values)) as number | null;
  }

  return {
    async read(account: string): Promise<PollingMarks> {
      return decodeMarks(await redis.hgetall(keyOf(account)));
    },
    /** Number of known filings, and of those found removed so far, both of one moment. */
    async known(account: string): Promise<{ readonly known: number; readonly removals: number }> {
      const { polling, counts } = keys.account(account);
      const [flat, removals] = (await readKnown.run(redis, [polling, counts], [])) as [string[], string];
      const known = Object.values(toCounts(counts, toFields(flat))).reduce((sum, count) => sum + count, 0);
      return { known, removals: Number(removals) || 0 };
    },
    /**
     * As `begin`, with everything else that a poll starts from, read in the same step. Takes the lease; null,
     * with nothing written, while another poll has it.
     */
    open,
    /**
     * Begins the snapshot of an account that has none yet, and returns the marks either way. Rejects with
     * SnapshotLostError, with nothing written, when the account was removed, or removed and created again:
     * its incarnation is another. Marks that cannot be read, and entries of the log beyond its head, are set
     * aside. Rejects with UnreadableRecordError when the head or the incarnation cannot be read.
     */
    async begin(account: string, incarnation: string): Promise<PollingMarks> {
      // Without a lease it is never null.
      return ((await open(account, incarnation)) as OpenedAccount).marks;
    },
    /**
     * Writes some marks, adds to the number of requests and ends the lease, in one step. Returns all marks as
     * they are then. Rejects with SnapshotLostError when the generation is another.
     */
    async write(
      account: string,
      generation: string,
      marks: MarksUpdate,
      requests: number,
      lease?: PollLease,
    ): Promise<PollingMarks> {
      const key = keys.account(account);
      const values = [generation, requests, lease?.holder ?? '', ...encodeMarks(marks)];
      const reply = await writeMarks.run(redis, [key.polling, leaseKey(key, lease?.mode ?? 'delta')], values);
      if (lease !== undefined) lease.isHeld = false;
      if (reply === null) throw new SnapshotLostError(account);
      return decodeMarks(toFields(reply as string[]));
    },
    /**
     * Writes marks although they go back in time. Rejects with SnapshotLostError when the generation is
     * another.
     */
    async correct(account: string, generation: string, marks: MarksUpdate) {
      if ((await replace(account, { generation }, marks)) === null) throw new SnapshotLostError(account);
    },
    /**
     * Writes marks in place of those `before`, and appends an operational event, recorded at `at` (ms,
     * Redis's clock), in one step. Returns the event's position in the log; null, with nothing written, when
     * the marks are others by now: another process has appended it.
     */
    replace,
    /**
     * Accepts a doubt as it stands in the marks. If another account is the reason, its identity is the
     * account's own from then on. False, with nothing written, when the doubt in the marks is another one.
     */
    async accept(account: string, doubt: StandingDoubt): Promise<boolean> {
      const accepted = encodeDoubt({ ...doubt, accepted: true });
      const identity = doubt.identity === '' ? {} : { identity: doubt.identity };
      const marks = { doubt: accepted, ...identity };
      return (await replace(account, { doubt: encodeDoubt(doubt) }, marks)) !== null;
    },
  };
}

type Fields = Record<string, string>;

function toFields(flat: readonly string[]): Fields {
  return Object.fromEntries(pairsOf(flat));
}
