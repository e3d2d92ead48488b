-- Makes the keys of a subscription's delivery readable again. Garbage, and keys of another type, are set
-- aside, and missing records are derived from the rest. If that is not possible, delivery begins again
-- further back: events are repeated rather than lost.
--
-- KEYS  1 subscriptions  2 delivery state  3 lanes  4 attempts  5 dead letters  6 replays
--       7 lanes of the replay  8 head  9 events  10 filing-events  11 resting
--       12 notes of unreadable records
-- ARGV  1 subscription id  2 first part of the names to which keys are renamed  3 now (ms)
--       4 milliseconds for which notes are kept  5 number of notes kept
--       6 time (ms) before which no recorded event was the subscription's
--       7 number of the state's fields that are numbers; then their names, and those of the fields that are
--       JSON
-- Reply the mended records, as triples of 'state', 'lanes', 'attempts', 'dead', 'replays' or 'replayLanes',
--       the field ('' = the key) and '1' if it was rebuilt, '' if it was set aside; empty when there is no
--       such subscription.
-- @include ../../events/log.lua
local names = { [2] = 'state', [3] = 'lanes', [4] = 'attempts', [5] = 'dead', [6] = 'replays', [7] = 'replayLanes' }
local state_key, lanes_key, replays_key, replay_lanes_key = KEYS[2], KEYS[3], KEYS[6], KEYS[7]
local head, events, now = KEYS[8], KEYS[9], tonumber(ARGV[3])
local mended = {}
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return mended end

local function append(place, field, rebuilt)
  for _, value in ipairs({ names[place], field, rebuilt and '1' or '' }) do mended[#mended + 1] = value end
end

local function note(place, field, value)
  if redis.call('TYPE', KEYS[12]).ok ~= 'stream' then redis.call('DEL', KEYS[12]) end
  redis.call('XADD', KEYS[12], 'MAXLEN', ARGV[5], '*', 'key', KEYS[place], 'field', field, 'value', string.sub(value, 1, 4096))
  redis.call('PEXPIRE', KEYS[12], ARGV[4])
  redis.call('HDEL', KEYS[place], field)
end

local function decode(text)
  local ok, value = pcall(cjson.decode, text)
  return ok and type(value) == 'table' and value or nil
end

-- Returns true if the key was of another type; it is then renamed.
local function set_aside(place, wanted, rebuilt)
  local found = redis.call('TYPE', KEYS[place]).ok
  if found == 'none' or found == wanted then return false end
  local aside = ARGV[2] .. names[place] .. ':' .. ARGV[1] .. ':' .. ARGV[3]
  redis.call('RENAME', KEYS[place], aside)
  redis.call('PEXPIRE', aside, ARGV[4])
  append(place, '', rebuilt)
  return true
end

set_aside(4, 'stream')
set_aside(5, 'stream')
local lost_state = set_aside(2, 'hash', true)
local lost_lanes = set_aside(3, 'hash', true)
local lost_replays = set_aside(6, 'hash')
local lost_replay_lanes = set_aside(7, 'hash', true)

local numbers = tonumber(ARGV[7])
for i = 1, numbers do
  local field = ARGV[7 + i]
  local value = redis.call('HGET', state_key, field)
  if value and not string.match(value, '^-?%d+%.?%d*$') then
    note(2, field, value)
    append(2, field, true)
  end
end
for i = 8 + numbers, #ARGV do
  local value = redis.call('HGET', state_key, ARGV[i])
  if value and not decode(value) then
    note(2, ARGV[i], value)
    append(2, ARGV[i], true)
  end
end
local done = redis.call('HGET', state_key, 'done')
if done and not string.match(done, '^[%d,-]*$') then
  note(2, 'done', done)
  append(2, 'done', true)
end

-- The last position before any event that may be the subscription's: positions are gapless and in the order
-- of recording.
local function beginning()
  local first = oldest_position(events)
  local last = read_head(head)
  if not first then return last end
  local low, high = first, last + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    local id = string.format('%.0f-0', middle)
    local entry = redis.call('XRANGE', events, id, id)[1]
    if entry and (tonumber(entry[2][10]) or 0) < tonumber(ARGV[6]) then low = middle + 1 else high = middle end
  end
  return low - 1
end

local function begin_at(position)
  redis.call('DEL', lanes_key)
  redis.call('HSET', state_key, 'cursor', position, 'timeline', timeline_at(head, events, position) or '', 'done', '', 'parked', 0)
end

local function is_lane(lane)
  if not lane or type(lane.positions) ~= 'table' or #lane.positions == 0 then return false end
  for _, position in ipairs(lane.positions) do
    if type(position) ~= 'number' then return false end
  end
  for _, name in ipairs({ 'spent', 'tried', 'dueAt', 'decidedAt' }) do
    if type(lane[name]) ~= 'number' then return false end
  end
  return true
end

-- The filing's events up to the cursor; it is no longer known which of them were delivered.
local function lane_of(filing, cursor)
  local positions, first = {}, oldest_position(events) or 0
  for position in string.gmatch(redis.call('HGET', KEYS[10], filing) or '', '%d+') do
    position = tonumber(position)
    if position <= cursor and position >= first then positions[#positions + 1] = string.format('%.0f', position) end
  end
  if #positions == 0 then return nil end
  return string.format('{"positions":[%s],"spent":0,"tried":0,"dueAt":%s,"decidedAt":%s}', table.concat(positions, ','), ARGV[3], ARGV[3])
end

local cursor = tonumber(redis.call('HGET', state_key, 'cursor') or nil)
local begins_anew = not cursor or (lost_lanes and redis.call('HGET', state_key, 'parked') ~= '0')
local lost_a_lane = false
if not begins_anew then
  local lanes = redis.call('HGETALL', lanes_key)
  for i = 1, #lanes, 2 do
    local filing = lanes[i]
    if not is_lane(decode(lanes[i + 1])) then
      note(3, filing, lanes[i + 1])
      append(3, filing, true)
      lost_a_lane = true
      -- Events without a filing are in no index.
      if filing == '' then begins_anew = true end
      local lane = filing ~= '' and lane_of(filing, cursor)
      if lane then redis.call('HSET', lanes_key, filing, lane) end
    end
  end
end
if begins_anew then
  begin_at(beginning())
elseif lost_a_lane then
  -- All events beyond the cursor are read again, because it is not known either which of them waited in the
  -- lane.
  redis.call('HSET', state_key, 'done', '')
end
local parked = 0
local lanes = redis.call('HVALS', lanes_key)
for _, text in ipairs(lanes) do parked = parked + #decode(text).positions end

local running, unfinished = redis.call('HGET', replays_key, 'running') or '', {}
for id in string.gmatch(running, '%S+') do
  local replay, progress = redis.call('HGET', replays_key, id), redis.call('HGET', replays_key, id .. ':state')
  local wanted, got = decode(replay or ''), decode(progress or '')
  if wanted and got and type(wanted.first) == 'number' and type(wanted.request) == 'table' and type(got.cursor) == 'number' then
    unfinished[#unfinished + 1] = id
  else
    note(6, id, replay or '')
    note(6, id .. ':state', progress or '')
    append(6, id)
    lost_replay_lanes = true
  end
end
if redis.call('EXISTS', replay_lanes_key) == 1 then
  for _, text in ipairs(redis.call('HVALS', replay_lanes_key)) do
    if not is_lane(decode(text)) then
      lost_replay_lanes = true
      append(7, '', true)
      break
    end
  end
end
if lost_replay_lanes or lost_replays then
  redis.call('DEL', replay_lanes_key)
  local first = unfinished[1]
  if first then
    local wanted, got = decode(redis.call('HGET', replays_key, first)), decode(redis.call('HGET', replays_key, first .. ':state'))
    got.cursor, got.done, got.restsUntil, got.lanes, got.snapshot = wanted.first - 1, '', 0, nil, nil
    redis.call('HSET', replays_key, first .. ':state', cjson.encode(got))
  end
end
if #mended > 0 then
  if redis.call('EXISTS', replays_key) == 1 then redis.call('HSET', replays_key, 'running', table.concat(unfinished, ' ')) end
  redis.call('HSET', state_key, 'replaying', #unfinished, 'parked', parked)
  redis.call('HSETNX', state_key, 'version', 1)
  local rests = redis.call('TYPE', KEYS[11]).ok == 'hash' and redis.call('HGET', KEYS[11], ARGV[1])
  redis.call('HSETNX', state_key, 'enabled', rests == 'disabled' and 0 or 1)
  -- A drain that runs now has read the former records: it is fenced off.
  redis.call('HDEL', state_key, 'epoch')
end
return mended
