-- Appends the digest of a day to an account's log, once: the date of the last one is compared and replaced in
-- the same step.
--
-- KEYS  1 head  2 events  3 bodies  4 polling
-- ARGV  1 generation  2 local date, `2026-11-28`  3 recorded at (ms)  4 event id  5 event type  6 body
-- Reply the event's position in the log, or 0 when the marks are of another generation, or that day or a
--       later one has its digest.
-- @include ../../events/log.lua
local head, events, bodies, polling = unpack(KEYS)
local marks = redis.call('HMGET', polling, 'generation', 'digestDate')
if marks[1] ~= ARGV[1] or (marks[2] or '') >= ARGV[2] then return 0 end
local position = append_event(head, events, bodies, ARGV[4], ARGV[5], '', '', '', ARGV[3], ARGV[6])
redis.call('HSET', polling, 'digestDate', ARGV[2], 'digestAt', ARGV[3])
return position
