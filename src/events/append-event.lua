-- Appends one operational event to an account's log.
--
-- KEYS  1 head  2 events  3 bodies
-- ARGV  event id, type, recorded at (ms), body
-- Reply the event's position in the log.
-- @include log.lua
return append_event(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], '', '', ARGV[3], ARGV[4])
