-- Reads the settings and states of some subscriptions, under the epoch of a deliverer. A cursor that is not
-- of the log's timeline, or beyond its head, is brought back to the last position that they share.
--
-- KEYS  1 delivery  2 head  3 events  4 subscriptions  5 nothing
-- ARGV  1 epoch  2 the keys' common beginning of delivery states
--       3 a position beyond which every cursor is brought back ('' = none)  then ids of subscriptions
-- Reply nil if another deliverer has begun; else for each id { settings, state as a JSON object },
--       0 if it is gone, or the error with which its state could not be read
--
-- The delivery states and lanes share the account's hash tag with the keys that are named.
-- @include ../../events/log.lua
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return nil end
local head, events = KEYS[2], KEYS[3]
local known = {}

local function common(position, timeline)
  local name = position .. ' ' .. timeline
  if not known[name] then known[name] = common_position(head, events, position, timeline) end
  return known[name]
end

local function bring_back(state_key, position)
  local lanes_key, parked = state_key .. ':lanes', 0
  local lanes = redis.call('HGETALL', lanes_key)
  for i = 1, #lanes, 2 do
    local lane, left = cjson.decode(lanes[i + 1]), {}
    for _, at in ipairs(lane.positions) do
      if at <= position then left[#left + 1] = at end
    end
    parked = parked + #left
    if #left == 0 then
      redis.call('HDEL', lanes_key, lanes[i])
    elseif #left < #lane.positions then
      lane.positions = left
      redis.call('HSET', lanes_key, lanes[i], cjson.encode(lane))
    end
  end
  redis.call('HSET', state_key, 'cursor', position, 'timeline', timeline_at(head, events, position), 'done', '',
    'parked', parked)
end

local function load(id)
  local settings = redis.call('HGET', KEYS[4], id)
  if not settings then return 0 end
  local state_key = ARGV[2] .. id
  local state = redis.pcall('HMGET', state_key, 'cursor', 'timeline')
  if state.err then return state.err end
  local cursor = tonumber(state[1] or '0')
  -- The caller names the fields that it cannot read.
  if cursor then
    local to = math.min(common(cursor, state[2] or ''), tonumber(ARGV[3]) or cursor)
    if to < cursor or ARGV[3] ~= '' then bring_back(state_key, to) end
  end
  local fields, flat = {}, redis.call('HGETALL', state_key)
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return { settings, cjson.encode(fields) }
end

local loaded = {}
for i = 4, #ARGV do loaded[i - 3] = load(ARGV[i]) end
return loaded
