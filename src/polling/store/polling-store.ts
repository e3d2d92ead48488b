import { randomUUID } from 'node:crypto';
import type { NewEvent } from '../../events/event.ts';
import { SnapshotLostError } from '../../filings/commit/commit-writer.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { committing, defineScript, loadScript } from '../../redis/scripts.ts';
import { replaceUnreadable } from '../../redis/set-aside.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import { decodeMiss, encodeMiss, missByDoubt, type Miss } from '../beliefs/missed-reads.ts';
import { encodeDoubt, type StandingDoubt } from '../doubt/doubt.ts';

/** How polling of one account stands. Times are milliseconds on Redis's clock, 0 = never. */
export interface PollingMarks {
  /**
   * Drawn when the account's snapshot began; whoever works on the snapshot writes only while it is the same.
   */
  readonly generation: string;
  /** Once true it stays so. */
  readonly baselined: boolean;
  /** Polls in a row that have read the whole list and found nothing new although the counts differ. */
  readonly dryPolls: number;
  /**
   * Filings that the service counts and no list has shown: the fewest of the dry polls while the baseline
   * goes on, from then on those that may still come to light without being new. Only falls then.
   */
  readonly hidden: number;
  /** Start of the poll that completed the baseline. */
  readonly baselinedAt: number;
  readonly lastPollAt: number;
  /** Start of the last poll that the schedule called for, and that read anything. */
  readonly scheduledPollAt: number;
  /** Start of the last poll that read all it had to. */
  readonly lastCompletePollAt: number;
  /** End of the last poll that read all it had to. */
  readonly lastCompleteEndAt: number;
  /** Start of the last full listing that read all it had to. */
  readonly lastSweepAt: number;
  /** Start of the last full listing, however it ended. */
  readonly sweepTriedAt: number;
  readonly consecutiveFailures: number;
  /** No scheduled poll before this time; 0 while the account is not backing off. */
  readonly backoffUntil: number;
  /** What the last poll could not read; empty when it read everything. */
  readonly lastError: string;
  /**
   * What of the account's stored records could not be read when they were last looked at; empty when all
   * could.
   */
  readonly unreadable: string;
  /** True from the `account.auth_failed` event until the next complete poll. */
  readonly authFailed: boolean;
  /** True from the `account.stale` event until the next complete poll. */
  readonly staleReported: boolean;
  /** What is held back and since when, see `standingDoubt`; empty when nothing is. */
  readonly doubt: string;
  /**
   * Digest of the account that the service last named before anything was doubted; empty when it has named
   * none.
   */
  readonly identity: string;
  /** When the service was last asked for it with nothing being doubted. */
  readonly identityAt: number;
  /** When the last operational event of the account was appended. */
  readonly toldAt: number;
  /**
   * Start of the last poll that has seen every filing known to be unsettled, those on record as missed aside.
   */
  readonly unsettledSeenAt: number;
  /** Start of the last poll that has seen every known filing, those on record as missed aside. */
  readonly allSeenAt: number;
  /** Start of the last full listing that stood still and held known filings only. */
  readonly bornSeenAt: number;
  /** Start of the last poll after which the known filings numbered the service's totals. */
  readonly countedAt: number;
  /** Filings found removed so far, ever. */
  readonly removals: number;
  readonly requestsTotal: number;
  readonly requestsLastPoll: number;
}

/** What a poll adds to the marks; those not named stay. */
export type MarksUpdate = Partial<Omit<PollingMarks, 'generation' | 'removals' | 'requestsTotal' | 'doubt'>>;

/** What operational events tell of: written together with them. */
export type ToldFlags = Pick<PollingMarks, 'authFailed' | 'staleReported' | 'doubt'>;

/** An operational event to be told, and the marks it leaves. */
export interface Telling {
  readonly event: NewEvent;
  readonly at: number;
  /** The flags on which the decision rests, and what they become. */
  readonly before: ToldFlags;
  readonly after: ToldFlags;
}

/** The marks, the misses and the lease of polling, two hashes and one string per account. */
export interface PollingStore {
  read(account: string): Promise<PollingMarks>;
  /**
   * Begins the snapshot of an account that has none yet, and returns the marks either way. Rejects with
   * SnapshotLostError, with nothing written, when the account was removed, or removed and created again: its
   * incarnation is another.
   */
  begin(account: string, incarnation: string): Promise<PollingMarks>;
  /**
   * Writes some marks and adds to the number of requests in one step. Rejects with SnapshotLostError when the
   * generation is another.
   */
  write(account: string, generation: string, marks: MarksUpdate, requests: number): Promise<void>;
  /**
   * Writes marks although they go back in time. Rejects with SnapshotLostError when the generation is
   * another.
   */
  correct(account: string, generation: string, marks: MarksUpdate): Promise<void>;
  /**
   * Appends an operational event and writes its flags in one step, unless somebody else has told it already
   * (the flags are no longer those in `before`): then null. Otherwise the event's position in the log.
   */
  tell(account: string, generation: string, telling: Telling): Promise<number | null>;
  /** Writes `unreadable` of the marks where there are any and it is another one. */
  tellUnreadable(account: string, text: string): Promise<void>;
  /**
   * Accepts a doubt as it stands in the marks; where another account is the reason, that one is the account's
   * own from then on. False, with nothing written, when the doubt in the marks is another one.
   */
  accept(account: string, doubt: StandingDoubt): Promise<boolean>;
  /**
   * Takes the account's lease for `ms`, or keeps it when `holder` has it; false when somebody else does, who
   * takes it for no longer.
   */
  lease(account: string, holder: string, ms: number): Promise<boolean>;
  /** Gives the lease back if it is still the holder's. */
  release(account: string, holder: string): Promise<void>;
  /** Known filings that could not be read, by id. */
  misses(account: string): Promise<Map<string, Miss>>;
  /** Rejects with SnapshotLostError when the generation is another. */
  setMiss(account: string, generation: string, id: string, miss: Miss): Promise<void>;
  /** Forgets a miss unless somebody has noted another one of the same filing since. */
  clearMiss(account: string, id: string, miss: Miss): Promise<void>;
}

/** The marks of an account that was never polled. */
export const noMarks: PollingMarks = {
  generation: '',
  baselined: false,
  dryPolls: 0,
  hidden: 0,
  baselinedAt: 0,
  lastPollAt: 0,
  scheduledPollAt: 0,
  lastCompletePollAt: 0,
  lastCompleteEndAt: 0,
  lastSweepAt: 0,
  sweepTriedAt: 0,
  consecutiveFailures: 0,
  backoffUntil: 0,
  lastError: '',
  unreadable: '',
  authFailed: false,
  staleReported: false,
  doubt: '',
  identity: '',
  identityAt: 0,
  toldAt: 0,
  unsettledSeenAt: 0,
  allSeenAt: 0,
  bornSeenAt: 0,
  countedAt: 0,
  removals: 0,
  requestsTotal: 0,
  requestsLastPoll: 0,
};

/** Names of the marks that are numbers. */
export const numericMarks: readonly string[] = Object.entries(noMarks).flatMap(([name, value]) =>
  typeof value === 'number' ? [name] : [],
);

// Each of these does nothing and says so when the marks are not of the generation in ARGV[1]. Times only move
// forward: polls overlap, and each of them speaks the truth. What a baseline has left out only comes to
// light.
const writeMarks = defineScript(`
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HINCRBY', KEYS[1], 'requestsTotal', ARGV[2])
local baselined = redis.call('HGET', KEYS[1], 'baselined') == 'true'
for i = 3, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  local former = tonumber(redis.call('HGET', KEYS[1], name) or 0)
  local isOlder = string.sub(name, -2) == 'At' and tonumber(value) <= former
  local isMore = name == 'hidden' and baselined and tonumber(value) > former
  if not isOlder and not isMore then redis.call('HSET', KEYS[1], name, value) end
end
return 1`);

// KEYS 1 the marks  2 incarnation. ARGV incarnation, generation. Replies the marks as fields and values, nil
// when the incarnation is another.
const beginScript = defineScript(`
local incarnation = redis.call('GET', KEYS[2])
if incarnation and string.sub(incarnation, 1, 5 + #ARGV[1]) ~= 'open ' .. ARGV[1] then return nil end
redis.call('HSETNX', KEYS[1], 'generation', ARGV[2])
return redis.call('HGETALL', KEYS[1])`);
const correctMarks = defineScript(`
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
return 1`);

// KEYS 1 the marks. ARGV the text.
const noteUnreadable = defineScript(`
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' or (redis.call('HGET', KEYS[1], 'unreadable') or '') == ARGV[1] then return 0 end
return redis.call('HSET', KEYS[1], 'unreadable', ARGV[1])`);

const writeMiss = defineScript(`
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1`);

const dropMiss = defineScript(
  `if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end`,
);

// KEYS 1 the marks. ARGV the doubt as it is, as it becomes, the identity that is the account's from then on
// or ''. Replies 1 when it was so.
const acceptDoubt = defineScript(`
if redis.call('HGET', KEYS[1], 'doubt') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'doubt', ARGV[2])
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'identity', ARGV[3]) end
return 1`);

// A lease that no holder can have written, of another type or without an end, is nobody's. Replies 2 then.
// One that lasts longer than any is of a holder that died before Redis's clock was set back.
const keepLease = defineScript(`
local holder, taken = redis.pcall('GET', KEYS[1]), 1
if type(holder) == 'table' then
  redis.call('DEL', KEYS[1])
  taken = 2
elseif holder and holder ~= ARGV[1] then
  local left = redis.call('PTTL', KEYS[1])
  if left >= 0 and left <= tonumber(ARGV[2]) then return 0 end
  taken = left < 0 and 2 or 1
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return taken`);

const dropLease = defineScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
);

const tellScript = committing(loadScript(new URL('tell-health.lua', import.meta.url)));

/** Polling's marks in Redis. */
export function createPollingStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
): PollingStore {
  async function read(account: string): Promise<PollingMarks> {
    return decodeMarks(await redis.hgetall(keys.account(account).polling));
  }

  // One that cannot be read is noted again as a doubt: the filing is read by itself.
  async function readMiss(account: string, key: string, id: string, text: string): Promise<Miss> {
    const miss = decodeMiss(text);
    if (miss !== null) return miss;
    const doubt = missByDoubt(0);
    const held = await redis.hgetBuffer(key, id);
    const place = { key, field: id, value: encodeMiss(doubt) };
    if (held !== null) await replaceUnreadable(redis, keys.account(account), { ...place, held });
    onUnreadable({ ...unreadable(account, 'missing', key), field: id, remedy: 'rebuilt' });
    return doubt;
  }

  return {
    read,
    async begin(account, incarnation) {
      const key = keys.account(account);
      const reply = await beginScript.run(redis, [key.polling, key.incarnation], [incarnation, randomUUID()]);
      if (reply === null) throw new SnapshotLostError(account);
      return decodeMarks(Object.fromEntries(pairs(reply as string[])));
    },
    async write(account, generation, marks, requests) {
      const key = keys.account(account).polling;
      const values = [generation, requests, ...fieldsOf(marks)];
      await inGeneration(account, writeMarks.run(redis, [key], values));
    },
    async correct(account, generation, marks) {
      const key = keys.account(account).polling;
      await inGeneration(account, correctMarks.run(redis, [key], [generation, ...fieldsOf(marks)]));
    },
    async tell(account, generation, { event, at, before, after }) {
      const { head, events, bodies, polling } = keys.account(account);
      const flags = [before, after].flatMap((told) => [told.authFailed, told.staleReported, told.doubt]);
      const position = await tellScript.run(
        redis,
        [head, events, bodies, polling],
        [generation, ...flags.map(String), at, event.id, event.type, event.body],
      );
      return typeof position === 'number' && position > 0 ? position : null;
    },
    async tellUnreadable(account, text) {
      await noteUnreadable.run(redis, [keys.account(account).polling], [text]);
    },
    async lease(account, holder, ms) {
      const key = keys.account(account).lease;
      const taken = await keepLease.run(redis, [key], [holder, ms]);
      if (taken === 2) onUnreadable({ ...unreadable(account, 'lease', key), remedy: 'set_aside' });
      return taken !== 0;
    },
    async accept(account, doubt) {
      const accepted = encodeDoubt({ ...doubt, accepted: true });
      const args = [encodeDoubt(doubt), accepted, doubt.identity];
      return (await acceptDoubt.run(redis, [keys.account(account).polling], args)) === 1;
    },
    async release(account, holder) {
      await dropLease.run(redis, [keys.account(account).lease], [holder]);
    },
    async misses(account) {
      const key = keys.account(account).missing;
      const fields = await redis.hgetall(key);
      const misses = new Map<string, Miss>();
      for (const [id, text] of Object.entries(fields)) misses.set(id, await readMiss(account, key, id, text));
      return misses;
    },
    async setMiss(account, generation, id, miss) {
      const { polling, missing } = keys.account(account);
      await inGeneration(
        account,
        writeMiss.run(redis, [polling, missing], [generation, id, encodeMiss(miss)]),
      );
    },
    async clearMiss(account, id, miss) {
      await dropMiss.run(redis, [keys.account(account).missing], [id, encodeMiss(miss)]);
    },
  };
}

function unreadable(account: string, kind: string, key: string) {
  return { account, kind, key, field: null, reason: 'it holds what is not ours' };
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] ?? '', flat[i + 1] ?? ''];
}

async function inGeneration(account: string, reply: Promise<unknown>): Promise<void> {
  if ((await reply) !== 1) throw new SnapshotLostError(account);
}

function fieldsOf(marks: MarksUpdate): string[] {
  return Object.entries(marks).flatMap(([name, value]) => [name, String(value)]);
}

function decodeMarks(fields: Readonly<Record<string, string>>): PollingMarks {
  const marks: Record<string, unknown> = { ...noMarks };
  for (const [name, sample] of Object.entries(noMarks)) {
    const text = fields[name];
    if (text === undefined) continue;
    marks[name] =
      typeof sample === 'boolean' ? text === 'true' : typeof sample === 'number' ? toNumber(text) : text;
  }
  return marks as unknown as PollingMarks;
}

// What is no number is dropped when the account's keys are looked at.
function toNumber(text: string): number {
  const value = Number(text);
  return Number.isFinite(value) ? value : 0;
}
