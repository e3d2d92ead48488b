-- Appends the event that warns of the end of a certificate, once: the time of the warning is compared and
-- replaced in the same step.
--
-- KEYS   1 ends  2 warnings  3 subscriptions  4 head  5 events  6 bodies
-- ARGV   1 subscription  2 kind of the certificate  3 its end, 4 the time of the warning, as they were read
--        5 time of the next warning ('' = none)  6 recorded at (ms)  7 event id  8 event type
--        9 body ('' = none: only what is noted of a removed subscription
--        is forgotten)
-- Reply  1, or 0 when another process has warned, or the certificate or the subscription is no longer the
--       one.
-- @include ../../events/log.lua
local ends, warnings, subscriptions, head, events, bodies = unpack(KEYS)
local name = ARGV[1] .. ' ' .. ARGV[2]
if redis.call('HEXISTS', subscriptions, ARGV[1]) == 0 or not redis.call('ZSCORE', ends, name) then
  redis.call('ZREM', warnings, name)
  redis.call('ZREM', ends, name)
  return 0
end
if redis.call('ZSCORE', warnings, name) ~= ARGV[4] or redis.call('ZSCORE', ends, name) ~= ARGV[3] then return 0 end
if ARGV[9] == '' then return 0 end
if ARGV[5] == '' then redis.call('ZREM', warnings, name) else redis.call('ZADD', warnings, ARGV[5], name) end
append_event(head, events, bodies, ARGV[7], ARGV[8], '', '', '', ARGV[6], ARGV[9])
return 1
