-- Begins to deliver for an account: from now on only the writes of this deliverer are accepted. A level
-- that is not of the log's timeline, or beyond its head, is brought back to the last position that they
-- share.
--
-- KEYS  1 delivery  2 head  3 events  4 changes  5 subscriptions  6 nothing
-- ARGV  1 epoch of the new deliverer
-- Reply { level, its timeline, '1' if it was brought back, head, its timeline, version of the settings,
--       ids of all subscriptions }; nil if there are none
-- @include ../../events/log.lua
-- @include changes.lua
local ids = redis.call('HKEYS', KEYS[5])
if #ids == 0 then return nil end
local stored = redis.call('HMGET', KEYS[1], 'level', 'timeline')
local former = tonumber(stored[1] or '') or 0
local level = common_position(KEYS[2], KEYS[3], former, stored[2] or '')
local timeline = timeline_at(KEYS[2], KEYS[3], level)
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'settles', 0, 'level', level, 'timeline', timeline)
local head, head_timeline = read_head(KEYS[2])
local version = changes_since(KEYS[4], '')
return { level, timeline, level < former and '1' or '', head, head_timeline, version, ids }
