-- Begins a drain: from now on only this drain's writes are accepted.
--
-- KEYS  1 subscriptions  2 head  3 events  4 bodies; of the subscription 5 delivery state  6 lanes  7 replays
-- ARGV  1 subscription id  2 entries wanted  3 bytes of bodies wanted  4 epoch of the new drain
--       5 epoch and 6 number of settles after which the caller has the lanes ('' = it has none)
-- Reply { settings, state as JSON of fields and values, lanes as filing and JSON (nil if the caller's are
--         still true), head, its timeline, the first entries after the cursor as JSON, the bodies of as
--         many as fit, ids of the unfinished replays, oldest first, separated by spaces };
--       nil when there is no such subscription. In place of the entries stands the number of an earlier call
--       of the batch that has the same ones.
--
-- A cursor that is not of the log's timeline, or beyond its head, is brought back to where the two part: the
-- events after that are sent again.
-- @include ../../events/log.lua
local head, events, bodies, state_key, lanes_key = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local settings = redis.call('HGET', KEYS[1], ARGV[1])
if not settings then return nil end
local state = redis.call('HMGET', state_key, 'cursor', 'timeline', 'enabled', 'replaying', 'epoch', 'settles')
local cursor = tonumber(state[1] or '0')
-- The caller names the fields that it cannot read.
if not cursor then return { settings, cjson.encode(redis.call('HGETALL', state_key)), false, 0, '', '[]', {}, '' } end
local keeps_lanes = state[5] and state[5] == ARGV[5] and (state[6] or '0') == ARGV[6]

local function bring_back(position)
  local parked = 0
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
  return position
end

-- Calls of one batch are of one moment: what one has found of the log is true for all.
local checkpoint = 'common ' .. cursor .. ' ' .. (state[2] or '')
local common = batch[checkpoint] or common_position(head, events, cursor, state[2] or '')
batch[checkpoint] = common
if common < cursor then
  cursor = bring_back(common)
  keeps_lanes = false
end
local lanes = not keeps_lanes and redis.call('HGETALL', lanes_key)
redis.call('HSET', state_key, 'epoch', ARGV[4], 'settles', 0)
local entries, first_bodies, running = '[]', {}, ''
if state[3] ~= '0' then
  local stretch = 'read ' .. cursor .. ' ' .. ARGV[2]
  if batch[stretch] then
    entries = batch[stretch]
  else
    local found = redis.call('XRANGE', events, string.format('(%.0f-0', cursor), '+', 'COUNT', ARGV[2])
    if #found > 0 then entries = cjson.encode(found) end
    for i, entry in ipairs(found) do
      local fields = entry[2]
      batch.bytes = (batch.bytes or 0) + (fields[11] == 'timeline' and tonumber(fields[14]) or 0)
      if batch.bytes > tonumber(ARGV[3]) then break end
      first_bodies[i] = redis.call('HGET', bodies, string.match(entry[1], '^%d+')) or ''
    end
    -- A call that may still fail has nothing for others.
    if (state[4] or '0') == '0' then batch[stretch] = batch.call end
  end
end
if (state[4] or '0') ~= '0' then running = redis.call('HGET', KEYS[7], 'running') or '' end
if not batch.head then batch.head = { read_head(head) } end
return { settings, cjson.encode(redis.call('HGETALL', state_key)), lanes, batch.head[1], batch.head[2], entries, first_bodies,
  running }
