-- Takes in a replay, unless an unfinished one of the same request goes before it.
--
-- KEYS  1 subscriptions  2 delivery state  3 replays  4 head  5 events
-- ARGV  subscription id, replay id, its request as text, replay (JSON), state (JSON), '1' = there is nothing
--       to do,
--       replays kept, the cursor before which its events were chosen, and that one's timeline
-- Reply the id of the replay that counts; 0 when there is no such subscription; 1 when all that are kept are
--       unfinished; 2 when the log is not
--       the one that the events were chosen from.
--
-- The hash of replays holds for each its JSON under its id, `<id>:request` and `<id>:state`, and the ids,
-- oldest
-- first, separated by spaces: all of them under `kept`, the unfinished ones under `running`.
-- @include ../../events/log.lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
if not is_same_log(KEYS[4], KEYS[5], tonumber(ARGV[8]), ARGV[9]) then return 2 end
local running, kept, unfinished = {}, {}, {}
for id in string.gmatch(redis.call('HGET', KEYS[3], 'running') or '', '%S+') do
  if redis.call('HGET', KEYS[3], id .. ':request') == ARGV[3] then return id end
  running[#running + 1] = id
  unfinished[id] = true
end
if #running >= tonumber(ARGV[7]) then return 1 end

for id in string.gmatch(redis.call('HGET', KEYS[3], 'kept') or '', '%S+') do kept[#kept + 1] = id end
for i = 1, #kept do
  if #kept < tonumber(ARGV[7]) then break end
  local id = kept[i]
  if not unfinished[id] then
    redis.call('HDEL', KEYS[3], id, id .. ':request', id .. ':state')
    table.remove(kept, i)
    break
  end
end
kept[#kept + 1] = ARGV[2]
redis.call('HSET', KEYS[3], ARGV[2], ARGV[4], ARGV[2] .. ':request', ARGV[3], ARGV[2] .. ':state', ARGV[5], 'kept',
  table.concat(kept, ' '))
if ARGV[6] == '1' then return ARGV[2] end
running[#running + 1] = ARGV[2]
redis.call('HSET', KEYS[3], 'running', table.concat(running, ' '))
redis.call('HSET', KEYS[2], 'replaying', #running)
-- A drain that runs now takes the replay up with the change of version.
redis.call('HINCRBY', KEYS[2], 'version', 1)
return ARGV[2]
