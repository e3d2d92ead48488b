-- Finds how far a log is the one that somebody knew.
--
-- KEYS  1 head  2 events
-- ARGV  a position that was known, its timeline ('' = not known)
-- Reply { the newest position in both, its timeline }: what was asked for, unless Redis was set back since.
-- @include log.lua
local position = common_position(KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2])
return { position, timeline_at(KEYS[1], KEYS[2], position) }
