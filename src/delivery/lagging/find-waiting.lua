-- Finds those of some subscriptions for which anything waits: events, retries, replays, the end of a pause.
--
-- KEYS   1 lagging  2 head  3 subscriptions  4 resting
-- ARGV   1 now (ms)  2 the keys' common beginning of delivery states, then ids of subscriptions
-- Reply  { ids of those that may need a drain now or later, without those that rest and are looked at again
--        when their rest is over; of the others those that are behind the head: cursor, its timeline, and a
--        list of ids and versions of their settings in turn, for each cursor }
--
-- The delivery states share the account's hash tag with the keys that are named.
-- @include idle.lua
local now, head = tonumber(ARGV[1]), string.match(redis.call('GET', KEYS[2]) or '0', '^%d+') or ''
local resting = redis.pcall('HLEN', KEYS[4])
local waiting, behind, at_place = {}, {}, {}

local function rests(id)
  if resting == 0 then return false end
  local until_ms = redis.pcall('HGET', KEYS[4], id)
  local rest = type(until_ms) == 'string' and tonumber(until_ms) or 0
  if rest <= now then return false end
  local later = tonumber(redis.call('ZSCORE', KEYS[1], id) or '0')
  return now < later and later <= rest
end

local function note_behind(id, cursor, timeline, version)
  local place = cursor .. ' ' .. timeline
  local those = at_place[place]
  if not those then
    those = {}
    at_place[place] = those
    behind[#behind + 1], behind[#behind + 2], behind[#behind + 3] = cursor, timeline, those
  end
  those[#those + 1], those[#those + 2] = id, version
end

for i = 3, #ARGV do
  local id = ARGV[i]
  local state = not rests(id) and redis.pcall('HMGET', ARGV[2] .. id, unpack(fields))
  -- Another type, or a number that is none: the drain reports it.
  if state and (state.err or not state[2]) then
    if redis.call('HEXISTS', KEYS[3], id) == 1 then waiting[#waiting + 1] = id end
  elseif state and state[1] ~= '0' then
    if not is_idle(state, now) then waiting[#waiting + 1] = id
    elseif state[2] ~= head then note_behind(id, state[2], state[3] or '', state[4] or '') end
  end
end
return { waiting, behind }
