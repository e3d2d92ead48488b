import type { RedisClient } from './connect.ts';
import type { Keys } from './keys.ts';
import { defineScript } from './scripts.ts';

// KEYS 1 the stream of events of format 1, with bodies  2 that of format 2  3 head. A process of format 1 can append to neither of the
// two from then on: to it the log is empty, and its head no number.
const upgradeLog = defineScript(`
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('EXISTS', KEYS[2]) == 0 then redis.call('RENAME', KEYS[1], KEYS[2]) end
local head = redis.call('GET', KEYS[3])
if head and not string.find(head, ' ') then redis.call('SET', KEYS[3], head .. ' ' .. string.rep('0', 48)) end
return 1`);

/**
 * Makes a store of format 1 one of format 2, in place: logs get timelines from their present heads on, entries keep their bodies where they
 * are. May be repeated, and after a crash has to be.
 */
export async function upgradeStore(redis: RedisClient, keys: Keys): Promise<void> {
  for (const account of await redis.hkeys(keys.accounts)) {
    const { base, events, head } = keys.account(account);
    // One after the other, for Redis serves others meanwhile.
    // oxlint-disable-next-line no-await-in-loop
    await upgradeLog.run(redis, [`${base}:events`, events, head], []);
  }
}
