-- Whether anything of an account waits to be delivered.
--
-- KEYS  1 subscriptions  2 delivery  3 head  4 changes
-- ARGV  1 now (ms)  2 the latest time (ms) of a settle: after a later one, the clock was set back
-- Reply 1 or 0
-- @include changes.lua
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local state = redis.call('HMGET', KEYS[2], 'level', 'nextAt', 'seen', 'at')
if state[1] ~= string.match(redis.call('GET', KEYS[3]) or '0', '^%d+') then return 1 end
if state[3] ~= changes_since(KEYS[4], '') then return 1 end
local next_at = tonumber(state[2] or '0') or 0
if next_at > 0 and next_at <= tonumber(ARGV[1]) then return 1 end
return tonumber(state[4] or '0') > tonumber(ARGV[2]) and 1 or 0
