-- Begins a drain: from now on only this drain's writes are taken.
--
-- KEYS  1 subscriptions  2 delivery state  3 lanes  4 head  5 events  6 replays
-- ARGV  subscription id, entries wanted, epoch of the drain whose lanes the caller still has ('' = none)
-- Reply { settings, state fields and values, lanes as filing and JSON, nil if the caller's are still true, head, the first entries after the cursor,
--       ids of the unfinished replays, oldest first, separated by spaces }; nil when there is no such subscription.
local settings = redis.call('HGET', KEYS[1], ARGV[1])
if not settings then return nil end
local lanes = redis.call('HGET', KEYS[2], 'epoch') ~= ARGV[3] and redis.call('HGETALL', KEYS[3])
redis.call('HINCRBY', KEYS[2], 'epoch', 1)
local state = redis.call('HMGET', KEYS[2], 'cursor', 'enabled', 'replaying')
local entries, running = {}, ''
if state[2] ~= '0' then
  entries = redis.call('XRANGE', KEYS[5], '(' .. (state[1] or '0') .. '-0', '+', 'COUNT', ARGV[2])
end
if (state[3] or '0') ~= '0' then running = redis.call('HGET', KEYS[6], 'running') or '' end
return { settings, redis.call('HGETALL', KEYS[2]), lanes, redis.call('GET', KEYS[4]) or '0',
  entries, running }
