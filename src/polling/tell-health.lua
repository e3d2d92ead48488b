-- Appends one operational event to an account's log, once per occurrence: the flags that say what has been told are
-- compared and written in the same step.
--
-- KEYS  1 head  2 events  3 bodies  4 polling
-- ARGV  1 generation  2 authFailed before  3 staleReported before  4 authFailed after  5 staleReported after
--       6 recorded at (ms)  7 event id  8 event type  9 body
-- Reply the event's position in the log, or 0 when the marks are of another generation or the flags are not as before.
-- @include ../events/log.lua
local head, events, bodies, polling = unpack(KEYS)
local marks = redis.call('HMGET', polling, 'generation', 'authFailed', 'staleReported')
if marks[1] ~= ARGV[1] then return 0 end
if (marks[2] or 'false') ~= ARGV[2] or (marks[3] or 'false') ~= ARGV[3] then return 0 end
local position = append_event(head, events, bodies, ARGV[7], ARGV[8], '', '', ARGV[6], ARGV[9])
redis.call('HSET', polling, 'authFailed', ARGV[4], 'staleReported', ARGV[5], 'toldAt', ARGV[6])
return position
