import type { RedisClient } from '../connection/connect.ts';
import type { Keys } from '../keys.ts';
import { defineScript } from '../scripts.ts';

// KEYS  1 the log of format 1, entries with bodies  2 that of format 2  3 head  4… delivery states of the
// account's subscriptions Reply 1, or 0 when the account is of format 2 already.
//
// Processes of format 1 may still run. They know nothing of the mark of the store while they deliver: to them
// a log that is only empty would be one that retention has emptied, and what they have to deliver would be
// given up. So what was the log's key holds a text from now on, on which each of their reads fails; their
// drains are fenced off, with an epoch that they cannot count on from; and their commits fail on the head.
const upgradeLog = defineScript(`
local head = redis.call('GET', KEYS[3]) or '0'
if string.find(head, ' ') then return 0 end
for i = 4, #KEYS do
  if redis.call('HEXISTS', KEYS[i], 'epoch') == 1 then redis.call('HSET', KEYS[i], 'epoch', 'upgraded') end
end
if redis.call('TYPE', KEYS[1]).ok == 'stream' then redis.call('RENAME', KEYS[1], KEYS[2]) end
redis.call('SET', KEYS[1], 'moved to ' .. KEYS[2])
redis.call('SET', KEYS[3], head .. ' ' .. string.rep('0', 48))
return 1`);

/**
 * Makes a store of format 1 one of format 2, in place, each account in one step: logs get timelines from
 * their present heads on, entries keep their bodies where they are. May be repeated, at the same time too,
 * and after a crash has to be.
 */
export async function upgradeStore(redis: RedisClient, keys: Keys): Promise<void> {
  for (const account of await redis.hkeys(keys.accounts)) {
    const { base, events, head, subscriptions, subscription } = keys.account(account);
    // Accounts are upgraded one after the other, so Redis serves other clients in between.
    const ids = await redis.hkeys(subscriptions);
    const states = ids.map((id) => subscription(id).state);
    await upgradeLog.run(redis, [`${base}:events`, events, head, ...states], []);
  }
}
