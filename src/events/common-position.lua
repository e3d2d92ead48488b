-- Finds the newest position that a log shares with the log of a checkpoint.
--
-- KEYS   1 head  2 events
-- ARGV   1 the checkpoint's position  2 its timeline ('' = not known)
-- Reply  { position, its timeline }: those of the checkpoint, unless Redis was set back since
-- @include log.lua
local position = common_position(KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2])
return { position, timeline_at(KEYS[1], KEYS[2], position) }
