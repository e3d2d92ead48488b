import { randomUUID } from 'node:crypto';
import { SnapshotLostError } from '../filings/snapshot-store.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

/** How polling of one account stands. Times are milliseconds on Redis's clock, 0 = never. */
export interface PollingMarks {
  /** Drawn when the account's snapshot began; whoever works on the snapshot writes only while it is the same. */
  readonly generation: string;
  readonly baselined: boolean;
  readonly lastPollAt: number;
  readonly lastCompletePollAt: number;
  readonly lastSweepAt: number;
  readonly consecutiveFailures: number;
  /** No scheduled poll before this time. */
  readonly backoffUntil: number;
  /** What the last failed poll died of; empty after a complete one. */
  readonly lastError: string;
  readonly authFailed: boolean;
  /** True from the `account.stale` event until the next complete poll. */
  readonly staleReported: boolean;
  /** When the last operational event of the account was appended. */
  readonly toldAt: number;
  /** Start of the last poll that has seen every filing known to be unsettled. */
  readonly unsettledSeenAt: number;
  /** Start of the last poll that has seen every known filing. */
  readonly allSeenAt: number;
  /** Start of the last full listing after which the known filings numbered the total. */
  readonly bornSeenAt: number;
  readonly requestsTotal: number;
  readonly requestsLastPoll: number;
}

/** The marks and the lease of polling, one hash and one string per account. */
export interface PollingStore {
  read(account: string): Promise<PollingMarks>;
  /** Begins the snapshot of an account that has none yet, and returns the marks either way. */
  begin(account: string): Promise<PollingMarks>;
  /** Writes some marks in one step, the others stay. Rejects with SnapshotLostError when the generation is another. */
  write(account: string, generation: string, marks: Partial<PollingMarks>): Promise<void>;
  /** Takes the account's lease for `ms`, or keeps it when `holder` has it; false when somebody else does. */
  lease(account: string, holder: string, ms: number): Promise<boolean>;
  /** Gives the lease back if it is still the holder's. */
  release(account: string, holder: string): Promise<void>;
  /** Ids that answered 404, each with the start of the poll that first met that. */
  missing(account: string): Promise<Map<string, number>>;
  setMissing(account: string, id: string, since: number): Promise<void>;
  clearMissing(account: string, ids: readonly string[]): Promise<void>;
}

const noMarks: PollingMarks = {
  generation: '',
  baselined: false,
  lastPollAt: 0,
  lastCompletePollAt: 0,
  lastSweepAt: 0,
  consecutiveFailures: 0,
  backoffUntil: 0,
  lastError: '',
  authFailed: false,
  staleReported: false,
  toldAt: 0,
  unsettledSeenAt: 0,
  allSeenAt: 0,
  bornSeenAt: 0,
  requestsTotal: 0,
  requestsLastPoll: 0,
};

const keepLease = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const writeMarks = `
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
return 1`;

const dropLease = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** Polling's marks in Redis. */
export function createPollingStore(redis: RedisClient, keys: Keys): PollingStore {
  async function read(account: string): Promise<PollingMarks> {
    const fields = await redis.hgetall(keys.account(account).polling);
    const marks: Record<string, unknown> = { ...noMarks };
    for (const [name, text] of Object.entries<string>(fields)) {
      if (Object.hasOwn(noMarks, name)) marks[name] = parse(name, text);
    }
    return marks as unknown as PollingMarks;
  }

  return {
    read,
    async begin(account) {
      await redis.hsetnx(keys.account(account).polling, 'generation', randomUUID());
      return read(account);
    },
    async write(account, generation, marks) {
      const fields = Object.entries(marks).flatMap(([name, value]) => [name, String(value)]);
      const written = await redis.eval(writeMarks, 1, keys.account(account).polling, generation, ...fields);
      if (written !== 1) throw new SnapshotLostError(account);
    },
    lease: async (account, holder, ms) =>
      (await redis.eval(keepLease, 1, keys.account(account).lease, holder, ms)) === 1,
    async release(account, holder) {
      await redis.eval(dropLease, 1, keys.account(account).lease, holder);
    },
    async missing(account) {
      const fields = await redis.hgetall(keys.account(account).missing);
      return new Map(Object.entries(fields).map(([id, since]) => [id, Number(since)]));
    },
    async setMissing(account, id, since) {
      await redis.hsetnx(keys.account(account).missing, id, since);
    },
    async clearMissing(account, ids) {
      if (ids.length > 0) await redis.hdel(keys.account(account).missing, ...ids);
    },
  };
}

function parse(name: string, text: string): unknown {
  const sample = noMarks[name as keyof PollingMarks];
  if (typeof sample === 'boolean') return text === 'true';
  return typeof sample === 'number' ? Number(text) : text;
}
