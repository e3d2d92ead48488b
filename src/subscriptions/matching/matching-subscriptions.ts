import { randomUUID } from 'node:crypto';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import type { Matchable } from '../matches-event.ts';
import type { Wanted } from '../store/stored-subscription.ts';
import { readResting } from './resting.ts';
import { groupByWishes, idsWanting, type WishGroups } from './wish-groups.ts';

/**
 * Ids of an account's subscriptions that asked for one of these events and do not rest, judged by settings
 * that are at least as new as the call. They are read and parsed once after each change of them, which the
 * version of the account's settings shows, and once a minute in case another program has changed them.
 */
export type MatchingSubscriptions = (account: string, events: readonly Matchable[]) => Promise<string[]>;

export interface MatchingDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** The wishes of an account's subscriptions; unreadable ones are reported and left out. */
  readonly filters: (account: string) => Promise<readonly Wanted[]>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

interface Kept {
  readonly version: string;
  /** Monotonic, in milliseconds. */
  readonly readAt: number;
  readonly wanted: WishGroups;
}

// Maximum bytes of the wishes that a process keeps, of the accounts used last: about half a million.
const keptBytesMax = 32 * 1024 * 1024;
// Milliseconds.
const keptMs = 60_000;
// Bytes of an account beside its wishes, roughly.
const accountBytes = 300;

// An account from before versions gets one here. Any change of settings sets another one, before it is
// answered.
//
// KEYS   1 version of the settings  2 subscriptions  3 resting
// ARGV   1 a new version
// Reply  the version, the number of subscriptions and of those that rest
const lookScript = defineScript(`
local count = redis.call('HLEN', KEYS[2])
local version = redis.pcall('GET', KEYS[1])
if type(version) ~= 'string' then
  version = ARGV[1]
  if count > 0 then redis.call('SET', KEYS[1], version) end
end
return { version, count, redis.call('HLEN', KEYS[3]) }`);

/** Matching over one connection. */
export function createMatchingSubscriptions(
  { redis, keys, filters, now }: MatchingDeps,
  bytesMax = keptBytesMax,
): MatchingSubscriptions {
  const kept = createBoundedMap<string, Kept>(bytesMax, ({ wanted }) => accountBytes + wanted.bytes);

  async function wantedOf(account: string, version: string, count: number): Promise<WishGroups> {
    const known = kept.get(account);
    const at = performance.now();
    if (known?.version === version && known.wanted.size === count && at - known.readAt < keptMs)
      return known.wanted;
    const wanted = groupByWishes(await filters(account));
    // After a change in between, the next look finds another version. Each reading reports the settings that
    // it cannot read.
    if (wanted.size === count) kept.set(account, { version, readAt: at, wanted });
    else kept.delete(account);
    return wanted;
  }

  return async (account, events) => {
    const { settingsVersion, subscriptions, resting } = keys.account(account);
    const look = await lookScript.run(redis, [settingsVersion, subscriptions, resting], [randomUUID()]);
    const [version, count, restingCount] = look as [string, number, number];
    if (count === 0) return [];
    const ids = idsWanting(await wantedOf(account, version, count), events);
    if (ids.length === 0 || restingCount === 0) return ids;
    const rests = await readResting(redis, keys, account, ids.length < restingCount ? ids : null);
    return ids.filter((id) => (rests.get(id) ?? 0) <= now());
  };
}
