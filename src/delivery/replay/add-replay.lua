-- Adds a replay, unless there is an unfinished one of the same request.
--
-- KEYS  1 subscriptions  2 delivery state  3 replays  4 head  5 events  6 quota  7 registrations  8 tokens
--       9 changes
-- ARGV  1 subscription id  2 replay id  3 its request as text  4 replay (JSON)  5 state (JSON)
--       6 '1' = there is nothing to do  7 maximum number of replays kept
--       8 the cursor up to which its events were chosen  9 its timeline  10 maximum bytes of an account
--       11 number of filings of a snapshot ('' = none)  12 version of the settings from now on
-- Reply the id of the replay added, or of the unfinished one; 0 when there is no such subscription; 1 when
--       all replays kept are unfinished; 2 when the log is not the one that the events were chosen from;
--       'quota <bytes stored>' when the account would store too much, whichever finished replays it forgot.
--
-- The hash of replays holds for each its JSON under its id, `<id>:request` and `<id>:state`, and lists of
-- ids, oldest first, separated by spaces: all replays under `kept`, the unfinished ones under `running`.
-- @include ../../events/log.lua
-- @include ../../redis/quota/quota.lua
-- @include ../store/changes.lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
if not is_same_log(KEYS[4], KEYS[5], tonumber(ARGV[8]), ARGV[9]) then return 2 end
local running, kept, unfinished = {}, {}, {}
for id in string.gmatch(redis.call('HGET', KEYS[3], 'running') or '', '%S+') do
  if redis.call('HGET', KEYS[3], id .. ':request') == ARGV[3] then return id end
  running[#running + 1] = id
  unfinished[id] = true
end
if #running >= tonumber(ARGV[7]) then return 1 end

-- The oldest finished replays make room for it.
local stored = stored_bytes(KEYS[6], KEYS[1], KEYS[7], KEYS[8])
local more, dropped = replay_bytes(#ARGV[4], #ARGV[3]), {}
for id in string.gmatch(redis.call('HGET', KEYS[3], 'kept') or '', '%S+') do kept[#kept + 1] = id end
for i = 1, #kept do
  local left = #kept - #dropped
  if left < tonumber(ARGV[7]) and stored + more <= tonumber(ARGV[10]) then break end
  if not unfinished[kept[i]] then
    dropped[#dropped + 1] = i
    more = more - kept_replay_bytes(KEYS[3], kept[i])
  end
end
if stored + more > tonumber(ARGV[10]) then return 'quota ' .. string.format('%d', stored) end
for n = #dropped, 1, -1 do
  local id = table.remove(kept, dropped[n])
  redis.call('HDEL', KEYS[3], id, id .. ':request', id .. ':state')
end
redis.call('INCRBY', KEYS[6], more)
kept[#kept + 1] = ARGV[2]
redis.call('HSET', KEYS[3], ARGV[2], ARGV[4], ARGV[2] .. ':request', ARGV[3], ARGV[2] .. ':state', ARGV[5], 'kept',
  table.concat(kept, ' '))
if ARGV[6] == '1' then return ARGV[2] end
running[#running + 1] = ARGV[2]
redis.call('HSET', KEYS[3], 'running', table.concat(running, ' '))
redis.call('HSET', KEYS[2], 'replaying', #running)
if ARGV[11] ~= '' then redis.call('HSET', KEYS[2], 'snapshots', ARGV[11]) end
note_change(KEYS[9], ARGV[12], ARGV[1])
return ARGV[2]
