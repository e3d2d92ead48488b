-- Appends one operational event to an account's log, once per occurrence: the flags of what was reported are
-- compared and written in the same step.
--
-- KEYS  1 head  2 events  3 bodies  4 polling
-- ARGV  1 generation  2 authFailed, 3 staleReported, 4 doubt before  5 authFailed, 6 staleReported, 7 doubt
--       after
--       8 recorded at (ms)  9 event id  10 event type  11 body
-- Reply the event's position in the log, or 0 when the marks are of another generation or the flags are not
--       as before.
-- @include ../../events/log.lua
local head, events, bodies, polling = unpack(KEYS)
local marks = redis.call('HMGET', polling, 'generation', 'authFailed', 'staleReported', 'doubt')
if marks[1] ~= ARGV[1] then return 0 end
if (marks[2] or 'false') ~= ARGV[2] or (marks[3] or 'false') ~= ARGV[3] or (marks[4] or '') ~= ARGV[4] then return 0 end
local at = ARGV[8]
local position = append_event(head, events, bodies, ARGV[9], ARGV[10], '', '', '', at, ARGV[11])
redis.call('HSET', polling, 'authFailed', ARGV[5], 'staleReported', ARGV[6], 'doubt', ARGV[7], 'toldAt', at)
return position
