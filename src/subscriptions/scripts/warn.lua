-- Appends the event that warns of the end of a certificate, once: the time of the warning is compared and
-- replaced in the same step.
--
-- KEYS   1 warnings  2 head  3 events  4 bodies
-- ARGV   1 the certificate, `<subscription> <kind>`  2 the time of the warning as it was read  3 time of the
--        next warning ('' = none)  4 recorded at (ms)  5 event id  6 event type  7 body
-- Reply  1, or 0 when another process has warned, or it is no longer the certificate of the subscription
-- @include ../../events/log.lua
local warnings, head, events, bodies = unpack(KEYS)
if redis.call('ZSCORE', warnings, ARGV[1]) ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('ZREM', warnings, ARGV[1]) else redis.call('ZADD', warnings, ARGV[3], ARGV[1]) end
append_event(head, events, bodies, ARGV[5], ARGV[6], '', '', '', ARGV[4], ARGV[7])
return 1
