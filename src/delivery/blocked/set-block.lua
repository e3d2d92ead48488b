-- Writes or ends a subscription's block.
--
-- KEYS  1 subscriptions  2 delivery state  3 resting
-- ARGV  1 subscription id  2 settings that the block is about  3 block (JSON, '' = none)
--       4 until when the subscription rests for it (ms, 0 = it does not)
-- Reply 1, or 0 when nothing was written: the settings have changed, or the subscription is disabled or gone.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local state = redis.call('HMGET', KEYS[2], 'enabled', 'pausedUntil')
if state[1] == '0' then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[2], 'blocked') else redis.call('HSET', KEYS[2], 'blocked', ARGV[3]) end
local rests = math.max(tonumber(state[2] or '') or 0, tonumber(ARGV[4]))
if rests > 0 then redis.call('HSET', KEYS[3], ARGV[1], string.format('%d', rests)) else redis.call('HDEL', KEYS[3], ARGV[1]) end
return 1
