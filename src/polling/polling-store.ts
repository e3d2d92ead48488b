import { randomUUID } from 'node:crypto';
import type { NewEvent } from '../events/event.ts';
import { SnapshotLostError } from '../filings/snapshot-store.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { committing, defineScript, loadScript } from '../redis/scripts.ts';
import { decodeMiss, encodeMiss, type Miss } from './misses.ts';

/** How polling of one account stands. Times are milliseconds on Redis's clock, 0 = never. */
export interface PollingMarks {
  /** Drawn when the account's snapshot began; whoever works on the snapshot writes only while it is the same. */
  readonly generation: string;
  /** Once true it stays so. */
  readonly baselined: boolean;
  /** Polls in a row that have read the whole list and found nothing new although the counts differ. */
  readonly dryPolls: number;
  /**
   * Filings that the service counts and no list has shown: the fewest of the dry polls while the baseline goes on, from then on those that may
   * still come to light without being new. Only falls then.
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
  /** True from the `account.auth_failed` event until the next complete poll. */
  readonly authFailed: boolean;
  /** True from the `account.stale` event until the next complete poll. */
  readonly staleReported: boolean;
  /** When the last operational event of the account was appended. */
  readonly toldAt: number;
  /** Start of the last poll that has seen every filing known to be unsettled, those on record as missed aside. */
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
export type MarksUpdate = Partial<Omit<PollingMarks, 'generation' | 'removals' | 'requestsTotal'>>;

/** An operational event to be told, and the marks it leaves. */
export interface Telling {
  readonly event: NewEvent;
  readonly at: number;
  /** The flags on which the decision rests, and what they become. */
  readonly before: Pick<PollingMarks, 'authFailed' | 'staleReported'>;
  readonly after: Pick<PollingMarks, 'authFailed' | 'staleReported'>;
}

/** The marks, the misses and the lease of polling, two hashes and one string per account. */
export interface PollingStore {
  read(account: string): Promise<PollingMarks>;
  /**
   * Begins the snapshot of an account that has none yet, and returns the marks either way. Rejects with SnapshotLostError, with nothing written,
   * when the account was removed, or removed and created again: its incarnation is another.
   */
  begin(account: string, incarnation: string): Promise<PollingMarks>;
  /**
   * Writes some marks and adds to the number of requests in one step. Rejects with SnapshotLostError when the
   * generation is another.
   */
  write(account: string, generation: string, marks: MarksUpdate, requests: number): Promise<void>;
  /** Writes marks although they go back in time. Rejects with SnapshotLostError when the generation is another. */
  correct(account: string, generation: string, marks: MarksUpdate): Promise<void>;
  /**
   * Appends an operational event and writes its flags in one step, unless somebody else has told it already (the flags are no
   * longer those in `before`): then null. Otherwise the event's position in the log.
   */
  tell(account: string, generation: string, telling: Telling): Promise<number | null>;
  /** Takes the account's lease for `ms`, or keeps it when `holder` has it; false when somebody else does, who takes it for no longer. */
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

const noMarks: PollingMarks = {
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
  authFailed: false,
  staleReported: false,
  toldAt: 0,
  unsettledSeenAt: 0,
  allSeenAt: 0,
  bornSeenAt: 0,
  countedAt: 0,
  removals: 0,
  requestsTotal: 0,
  requestsLastPoll: 0,
};

// Each of these does nothing and says so when the marks are not of the generation in ARGV[1]. Times only move forward: polls overlap,
// and each of them speaks the truth. What a baseline has left out only comes to light.
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

// KEYS 1 the marks  2 incarnation. ARGV incarnation, generation. Replies the marks as fields and values, nil when the incarnation is another.
const beginScript = defineScript(`
local incarnation = redis.call('GET', KEYS[2])
if incarnation and string.sub(incarnation, 1, 5 + #ARGV[1]) ~= 'open ' .. ARGV[1] then return nil end
redis.call('HSETNX', KEYS[1], 'generation', ARGV[2])
return redis.call('HGETALL', KEYS[1])`);
const correctMarks = defineScript(`
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
return 1`);

const writeMiss = defineScript(`
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1`);

const dropMiss = defineScript(
  `if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end`,
);

// A lease that lasts longer than any is one of a holder that died before Redis's clock was set back.
const keepLease = defineScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

const dropLease = defineScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
);

const tellScript = committing(loadScript(new URL('tell-health.lua', import.meta.url)));

/** Polling's marks in Redis. */
export function createPollingStore(redis: RedisClient, keys: Keys): PollingStore {
  async function read(account: string): Promise<PollingMarks> {
    return decodeMarks(await redis.hgetall(keys.account(account).polling));
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
      const flags = [before.authFailed, before.staleReported, after.authFailed, after.staleReported];
      const position = await tellScript.run(
        redis,
        [head, events, bodies, polling],
        [generation, ...flags.map(String), at, event.id, event.type, event.body],
      );
      return typeof position === 'number' && position > 0 ? position : null;
    },
    lease: async (account, holder, ms) =>
      (await keepLease.run(redis, [keys.account(account).lease], [holder, ms])) === 1,
    async release(account, holder) {
      await dropLease.run(redis, [keys.account(account).lease], [holder]);
    },
    async misses(account) {
      const fields = await redis.hgetall(keys.account(account).missing);
      return new Map(Object.entries(fields).map(([id, text]) => [id, decodeMiss(text)]));
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
      typeof sample === 'boolean' ? text === 'true' : typeof sample === 'number' ? Number(text) : text;
  }
  return marks as unknown as PollingMarks;
}
