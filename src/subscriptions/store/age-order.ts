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
 * The subscriptions of an account, oldest first. The scripts that add and remove them keep the order. It is
 * mended when it is read with another number of subscriptions, as after its key was lost.
 */
export interface AgeOrder {
  /** Up to `count` behind a place, or from the first on; reads no others. */
  read(account: string, after: AgePlace | null, count: number): Promise<AgePlace[]>;
}

// Number of subscriptions that are read at once while the order is made: each may have ten KB.
const readAtOnce = 50;
const triesMax = 3;

// KEYS   1 by age  2 subscriptions
// ARGV   age and id of some subscriptions in turn; '' in place of the age of one that may be gone
// Reply  1
const mendScript = defineScript(`
for i = 1, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[2], ARGV[i + 1]) == 0 then redis.call('ZREM', KEYS[1], ARGV[i + 1])
  elseif ARGV[i] ~= '' then redis.call('ZADD', KEYS[1], 'NX', ARGV[i], ARGV[i + 1]) end
end
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

  const mend = createSharedWork(async (account) => {
    const [order, subscriptions] = ofAccount(account);
    // Redis serves other clients between the parts.
    for await (const some of scanHash(redis, subscriptions, readAtOnce)) {
      const ages = some.flatMap(([id, text]) => [String(createdAt(account, id, text)), id]);
      await mendScript.run(redis, [order, subscriptions], ages);
    }
    let cursor = '0';
    do {
      const [next, flat] = await redis.zscan(order, cursor, 'COUNT', readAtOnce);
      const ids = flat.flatMap((id, i) => (i % 2 === 0 ? ['', id] : []));
      await mendScript.run(redis, [order, subscriptions], ids);
      cursor = next;
    } while (cursor !== '0');
  });

  return {
    async read(account, after, count) {
      const place = after === null ? ['', ''] : [after.createdAt, after.id];
      for (let tries = 0; tries < triesMax; tries += 1) {
        const reply = await readScript.run(redis, ofAccount(account), [...place, count]);
        if (reply !== null) return toPlaces(reply as string[]);
        await mend(account);
      }
      throw new Error(`the subscriptions of ${account} changed under every attempt to order them`);
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
