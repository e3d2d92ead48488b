import { createSharedWork } from '../../memory/shared-work.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript, loadScript } from '../../redis/scripts.ts';
import { newestMember, newestRank, ofMember, oldestRank, timeOfRank } from '../detection/newest.ts';
import type { FilingState } from '../detection/filing-state.ts';

/** A filing as it stands in the order: its member, and its state as stored; '' where there is none. */
export interface OrderedFiling {
  readonly member: string;
  readonly text: string;
}

/**
 * The filings of each indexed status in the order in which they came into it. It is made at the first
 * question for it, and kept by commits from then on (commit-changes.lua); whatever repairs a snapshot drops
 * it.
 */
export interface NewestIndex {
  /**
   * Up to `count` filings of a status from a bound of ZRANGEBYLEX on, the newest first, read in one step;
   * with `oldest` the oldest first, from a bound of ZREVRANGEBYLEX on. Null begins with the first of all.
   * Makes the order first where it is not whole: once for all that ask meanwhile, in short steps, about a
   * second for a hundred thousand filings.
   */
  read(
    account: string,
    status: string,
    from: string | null,
    count: number,
    order?: 'newest' | 'oldest',
  ): Promise<OrderedFiling[]>;
  /** As `read`, but only the members. */
  members(
    account: string,
    status: string,
    from: string | null,
    count: number,
    order: 'newest' | 'oldest',
  ): Promise<string[]>;
  /**
   * When the oldest filing of each of these statuses came into it (ms). Statuses without filings are missing,
   * and so are those whose oldest filing has a state that could not be read. Makes the order first as `read`
   * does.
   */
  oldest(account: string, statuses: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Drops the order, so that the next question makes it anew. */
  drop(account: string): Promise<void>;
}

/** Decodes stored states, in their order; null for those that cannot be shown. */
export type DecodeStates = (
  account: string,
  ids: readonly string[],
  texts: readonly (string | null)[],
) => Promise<(readonly [string, FilingState])[]>;

// Number of filings that are added in one step; it bounds the time that the step keeps Redis busy.
const addedAtOnce = 200;
const triesMax = 3;

// KEYS   1 newest
// Reply  1
const beginScript = defineScript(`
if not redis.call('ZSCORE', KEYS[1], '\\0') then
  redis.call('UNLINK', KEYS[1])
  redis.call('ZADD', KEYS[1], 0, '\\0')
end
return 1`);

// KEYS   1 newest  2 index
// Reply  1 = the order is whole, 0 = it is not and has to be made anew
const endScript = defineScript(`
if redis.call('ZSCORE', KEYS[1], '') then return 1 end
if not redis.call('ZSCORE', KEYS[1], '\\0') then return 0 end
if redis.call('ZCARD', KEYS[1]) - 1 ~= redis.call('ZCARD', KEYS[2]) then
  redis.call('UNLINK', KEYS[1])
  return 0
end
redis.call('ZREM', KEYS[1], '\\0')
redis.call('ZADD', KEYS[1], 0, '')
return 1`);

/** The order in a sorted set beside the index. */
export function createNewestIndex(redis: RedisClient, keys: Keys, decode: DecodeStates): NewestIndex {
  const readScript = loadScript(new URL('read-newest.lua', import.meta.url));
  const oldestScript = loadScript(new URL('read-oldest.lua', import.meta.url));
  const fillScript = loadScript(new URL('fill-newest.lua', import.meta.url));

  async function fill(account: string, members: readonly string[]): Promise<boolean> {
    const { newest, filings, index } = keys.account(account);
    const listed = members.map(split);
    const ids = listed.map(({ id }) => id);
    const texts = await redis.hmget(filings, ...ids);
    // A state that cannot be read is replaced here: this filing is left out, and the order made again.
    const known = new Map(await decode(account, ids, texts));
    const added = listed.flatMap(({ status, id }, i) => {
      const state = known.get(id);
      const rank = state === undefined ? oldestRank : newestRank(state);
      return [newestMember(status, rank, id), members[i] ?? '', id, texts[i] ?? ''];
    });
    return (await fillScript.run(redis, [newest, filings, index], added)) === 1;
  }

  async function tryMake(account: string): Promise<boolean> {
    const { newest, index } = keys.account(account);
    await beginScript.run(redis, [newest], []);
    for (let from = '-'; ;) {
      // Each part begins where the one before ended; Redis serves other clients in between.
      const members = await redis.zrangebylex(index, from, '+', 'LIMIT', 0, addedAtOnce);
      if (members.length > 0 && !(await fill(account, members))) return false;
      if (members.length < addedAtOnce) break;
      from = `(${members.at(-1) ?? ''}`;
    }
    return (await endScript.run(redis, [newest, index], [])) === 1;
  }

  const make = createSharedWork(async (account) => {
    for (let tries = 0; tries < triesMax; tries += 1) if (await tryMake(account)) return;
    throw new Error(`the index of ${account} changed under every attempt to order it`);
  });

  // The reply of a script that reads the order, which is made where it is not whole.
  async function fromWhole(account: string, run: () => Promise<unknown>): Promise<string[]> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const reply = await run();
      if (reply !== null) return reply as string[];
      await make(account);
    }
    throw new Error(`the order of the filings of ${account} was dropped under every attempt to read it`);
  }

  return {
    async read(account, status, from, count, order = 'newest') {
      const { newest, index, filings } = keys.account(account);
      const values = [status, from ?? '', count, oldestRank.length, order, ''];
      return inPairs(await fromWhole(account, () => readScript.run(redis, [newest, index, filings], values)));
    },
    members(account, status, from, count, order) {
      const { newest, index, filings } = keys.account(account);
      const values = [status, from ?? '', count, oldestRank.length, order, '1'];
      return fromWhole(account, () => readScript.run(redis, [newest, index, filings], values));
    },
    async oldest(account, statuses) {
      const { newest, index } = keys.account(account);
      const members = await fromWhole(account, () => oldestScript.run(redis, [newest, index], [...statuses]));
      const found = statuses.flatMap((status, i): [string, number][] => {
        const member = members[i] ?? '';
        const since = member === '' ? 0 : timeOfRank(ofMember(status, member).rank);
        return since === 0 ? [] : [[status, since]];
      });
      return new Map(found);
    },
    async drop(account) {
      await redis.unlink(keys.account(account).newest);
    },
  };
}

function split(member: string): { readonly status: string; readonly id: string } {
  const end = member.indexOf('\0');
  return end < 0 ? { status: member, id: '' } : { status: member.slice(0, end), id: member.slice(end + 1) };
}

function inPairs(flat: readonly string[]): OrderedFiling[] {
  const pairs: OrderedFiling[] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push({ member: flat[i] ?? '', text: flat[i + 1] ?? '' });
  return pairs;
}
