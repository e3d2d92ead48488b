import { createSharedWork } from '../../memory/shared-work.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import { scanHash } from '../../redis/hash-fields.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript, loadScript } from '../../redis/scripts.ts';

/** The place of a subscription in the order of age. */
export interface AgePlace {
  readonly id: string;
  /** Milliseconds since the epoch; 0 where it was not known when the order was made. */
  readonly createdAt: number;
}

/**
 * The subscriptions of an account, oldest first. The order begins with the first subscription and is kept by
 * the scripts that add and remove them; for an account from before it is made at the first question for it.
 */
export interface AgeOrder {
  /** Up to `count` behind a place, or from the first on; reads no others. */
  read(account: string, after: AgePlace | null, count: number): Promise<AgePlace[]>;
}

// Number of subscriptions that are read at once while the order is made: each may have ten KB.
const readAtOnce = 50;
const triesMax = 3;

// KEYS   1 by age
// Reply  1
const beginScript = defineScript(`
if not redis.call('ZSCORE', KEYS[1], ' ') then
  redis.call('UNLINK', KEYS[1])
  redis.call('ZADD', KEYS[1], '-inf', ' ')
end
return 1`);

// KEYS   1 by age  2 subscriptions
// ARGV   age and id of some subscriptions in turn
// Reply  1, or 0 where the order is no longer being made
const fillScript = defineScript(`
if not redis.call('ZSCORE', KEYS[1], ' ') then return 0 end
for i = 1, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[2], ARGV[i + 1]) == 1 then redis.call('ZADD', KEYS[1], 'NX', ARGV[i], ARGV[i + 1]) end
end
return 1`);

// KEYS   1 by age  2 subscriptions
// Reply  1 = the order is whole, 0 = it is not and has to be made anew
const endScript = defineScript(`
if redis.call('ZSCORE', KEYS[1], '') then return 1 end
if not redis.call('ZSCORE', KEYS[1], ' ') then return 0 end
if redis.call('ZCARD', KEYS[1]) - 1 ~= redis.call('HLEN', KEYS[2]) then
  redis.call('UNLINK', KEYS[1])
  return 0
end
redis.call('ZREM', KEYS[1], ' ')
redis.call('ZADD', KEYS[1], '-inf', '')
return 1`);

/** The order in a sorted set; `createdAt` reads a stored subscription, 0 where it cannot be read. */
export function createAgeOrder(
  redis: RedisClient,
  keys: Keys,
  createdAt: (account: string, id: string, text: string) => number,
): AgeOrder {
  const readScript = loadScript(new URL('../scripts/read-by-age.lua', import.meta.url));
  const ofAccount = (account: string) => {
    const { subscriptions, byAge } = keys.account(account);
    return [byAge, subscriptions] as const;
  };

  async function tryMake(account: string): Promise<boolean> {
    const [order, subscriptions] = ofAccount(account);
    await beginScript.run(redis, [order], []);
    for await (const some of scanHash(redis, subscriptions, readAtOnce)) {
      const ages = some.flatMap(([id, text]) => [String(createdAt(account, id, text)), id]);
      if ((await fillScript.run(redis, [order, subscriptions], ages)) !== 1) return false;
    }
    return (await endScript.run(redis, [order, subscriptions], [])) === 1;
  }

  const make = createSharedWork(async (account) => {
    for (let tries = 0; tries < triesMax; tries += 1) if (await tryMake(account)) return;
    throw new Error(`the subscriptions of ${account} changed under every attempt to order them`);
  });

  return {
    async read(account, after, count) {
      const place = after === null ? ['', ''] : [after.createdAt, after.id];
      for (let tries = 0; tries < triesMax; tries += 1) {
        const reply = await readScript.run(redis, ofAccount(account), [...place, count]);
        if (reply !== null) return toPlaces(reply as string[]);
        await make(account);
      }
      throw new Error(
        `the order of the subscriptions of ${account} was dropped under every attempt to read it`,
      );
    },
  };
}

function toPlaces(flat: readonly string[]): AgePlace[] {
  const places: AgePlace[] = [];
  for (let i = 0; i < flat.length; i += 2) places.push({ id: flat[i] ?? '', createdAt: Number(flat[i + 1]) });
  return places;
}

/** The place that a text of `ageKey` means. Throws RangeError when it is no such text. */
export function placeOf(text: string): AgePlace {
  const [, createdAt, id] = /^(\d{15}) ([^]+)$/.exec(text) ?? [];
  if (createdAt === undefined || id === undefined)
    throw new RangeError('not a place in the list of subscriptions');
  return { id, createdAt: Number(createdAt) };
}

/** The text of a place. It sorts as the places do: by age, then by id. */
export function ageKey({ createdAt, id }: AgePlace): string {
  return `${String(createdAt).padStart(15, '0')} ${id}`;
}
