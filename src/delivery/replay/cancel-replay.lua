-- Ends a replay that is not finished, with its lanes.
--
-- KEYS  1 subscriptions  2 delivery state  3 replays  4 lanes of the oldest unfinished replay  5 changes
-- ARGV  1 subscription id  2 replay id  3 version of the settings from now on
-- Reply 1 when it is ended now; 2 when it had ended before; 0 when there is no such replay.
--
-- A drain that works on it writes nothing more of it: settle.lua finds that it does not run.
-- @include ../store/changes.lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
local state = redis.call('HGET', KEYS[3], ARGV[2] .. ':state')
if not state then return 0 end
local left, place, count = {}, nil, 0
for id in string.gmatch(redis.call('HGET', KEYS[3], 'running') or '', '%S+') do
  count = count + 1
  if id == ARGV[2] then place = count else left[#left + 1] = id end
end
if not place then return 2 end
-- The lanes go first: those of a replay that is ended must not become another one's.
if place == 1 then redis.call('UNLINK', KEYS[4]) end
local ended = string.gsub(state, '"finished":false', '"finished":true,"cancelled":true', 1)
redis.call('HSET', KEYS[3], 'running', table.concat(left, ' '), ARGV[2] .. ':state', ended)
redis.call('HSET', KEYS[2], 'replaying', #left)
-- Without this replay nothing waits, unless an event waits in a lane of the subscription itself.
if #left == 0 and (redis.call('HGET', KEYS[2], 'parked') or '0') == '0' then
  redis.call('HSET', KEYS[2], 'nextAttemptAt', 0)
end
note_change(KEYS[5], ARGV[3], ARGV[1])
return 1
