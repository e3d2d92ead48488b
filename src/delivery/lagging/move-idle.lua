-- Moves the cursors of subscriptions past events that none of them wants. Each is left as it is unless
-- everything is as the caller knows it: the log up to the new place, the cursor, and the version of the
-- settings by which the events were judged.
--
-- KEYS   1 head  2 events
-- ARGV   1 now (ms)  2 the keys' common beginning of delivery states  3 cursor  4 its timeline  5 the new
--       cursor  6 its timeline, then ids of subscriptions and versions of their settings in turn
-- Reply  ids of those that were left as they are
--
-- The delivery states share the account's hash tag with the keys that are named.
-- @include ../../events/log.lua
-- @include idle.lua
local now, left = tonumber(ARGV[1]), {}
local is_same = timeline_at(KEYS[1], KEYS[2], tonumber(ARGV[5])) == ARGV[6]

local function move(id, version)
  local key = ARGV[2] .. id
  local state = redis.pcall('HMGET', key, unpack(fields))
  if state.err or state[1] == '0' or state[4] ~= version then return false end
  if state[2] ~= ARGV[3] or state[3] ~= ARGV[4] or not is_idle(state, now) then return false end
  redis.call('HSET', key, 'cursor', ARGV[5], 'timeline', ARGV[6])
  return true
end

for i = 7, #ARGV, 2 do
  if not is_same or not move(ARGV[i], ARGV[i + 1]) then left[#left + 1] = ARGV[i] end
end
return left
