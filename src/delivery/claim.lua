-- Begins a drain: from now on only this drain's writes are taken.
--
-- KEYS  1 subscriptions  2 delivery state  3 lanes
-- ARGV  subscription id
-- Reply { settings, state fields and values, lanes as filing and JSON }, or nil when there is no such subscription.
local settings = redis.call('HGET', KEYS[1], ARGV[1])
if not settings then return nil end
redis.call('HINCRBY', KEYS[2], 'epoch', 1)
return { settings, redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3]) }
