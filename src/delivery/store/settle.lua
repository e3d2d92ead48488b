-- Writes what a deliverer has done for some subscriptions, and how far all others are, in one step; unless
-- another deliverer has begun or Redis was set back under this one.
--
-- KEYS  1 delivery  2 head  3 events  4 bodies  5 subscriptions  6 polling  7 changes  8 nothing
-- ARGV  1 epoch  2 number of settles of this deliverer so far
--       3 the newest position of the log that it knows  4 its timeline 5 the level: every event up to this
--       position is done for each subscription that does not lag 6 when the account is next due (ms, 0 =
--       not before something changes)  7 the version of the settings that was seen  8 oldest stream id kept
--       of attempts and dead letters  9 maximum bytes of the account's attempts and dead letters; a third
--       of them is for dead letters  10 common beginning of the keys of delivery states  11 now (ms) then
--       for each subscription a JSON object, followed by its attempts, each of JSON:
--       { id, endpointVersion, attempts (how many follow), lags ('1', '0' or '' = as it is), progress and
--       endpoint as fields and values, lanes as filing and JSON ('' = empty now), dead (letters), recovered
--       (ids of letters that were delivered after all), replay (id, state or '', '1' when finished, then
--       its lanes), announced (an event as id, type, recorded at (ms), body), disabling (the reason, '0' or
--       when it is disabled for failing (ms), such an event), enabling (such an event) }; the last six may be
--       missing. All values are strings.
-- Reply { 1, head, its timeline, version of the settings, then for each subscription 1, 0 when it is
--         disabled, -1 when this call has disabled it, 2 when it has enabled it, -2 when it is gone, or the
--         error with which it could not be written }, { 0 } or { -1 } as of read.lua
--
-- The keys of a subscription share the account's hash tag with the keys that are named.
-- @include ../../events/log.lua
-- @include changes.lua
-- @include add-records.lua
if not is_same_log(KEYS[2], KEYS[3], tonumber(ARGV[3]), ARGV[4]) then return { -1 } end
local held = redis.call('HMGET', KEYS[1], 'epoch', 'settles')
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return { 0 } end
local kept = { oldest = ARGV[8], bytes = tonumber(ARGV[9]), subscriptions = KEYS[5], marks = KEYS[6] }
local timelines = {}

local function timeline_of(position)
  if not timelines[position] then timelines[position] = timeline_at(KEYS[2], KEYS[3], tonumber(position)) or '' end
  return timelines[position]
end

local function write_lanes(key, lanes, from)
  for i = from, #lanes, 2 do
    if lanes[i + 1] == '' then redis.call('HDEL', key, lanes[i]) else redis.call('HSET', key, lanes[i], lanes[i + 1]) end
  end
end

local function append(event, first)
  append_event(KEYS[2], KEYS[3], KEYS[4], event[first], event[first + 1], '', '', '', event[first + 2], event[first + 3])
end

local function write_replay(state_key, replay)
  local replays, running, runs = state_key .. ':replays', {}, false
  for id in string.gmatch(redis.call('HGET', replays, 'running') or '', '%S+') do
    if id == replay[1] then runs = true else running[#running + 1] = id end
  end
  -- One that was cancelled does not run any more: nothing of it is written.
  if not runs then return end
  write_lanes(state_key .. ':replay-lanes', replay, 4)
  if replay[2] ~= '' then redis.call('HSET', replays, replay[1] .. ':state', replay[2]) end
  if replay[3] == '1' then
    redis.call('UNLINK', state_key .. ':replay-lanes')
    redis.call('HSET', replays, 'running', table.concat(running, ' '))
    redis.call('HSET', state_key, 'replaying', #running)
  end
end

-- The cursor is written last. If Redis carries out only the first half, after its file was cut, events may
-- be repeated and none is lost.
local function settle(own, from)
  if redis.call('HEXISTS', KEYS[5], own.id) == 0 then return -2 end
  local key = ARGV[10] .. own.id
  local state = redis.call('HMGET', key, 'enabled', 'endpointVersion', 'disabledAt')
  local enabled, same_endpoint = state[1] ~= '0', (state[2] or '0') == own.endpointVersion
  -- Disabled for failing: its endpoint is asked again.
  local asked = not enabled and (state[3] or '0') ~= '0'
  local dead = own.dead or {}
  -- Fails here, with nothing written, if one of the keys is of the wrong type.
  if own.lanes then redis.call('HLEN', key .. ':lanes') end
  if own.replay then
    redis.call('HLEN', key .. ':replays')
    redis.call('HLEN', key .. ':replay-lanes')
  end
  if #dead > 0 or own.recovered then redis.call('XLEN', key .. ':dead') end
  add_attempts(key .. ':attempts', ARGV, from, from + own.attempts - 1, kept)
  add_letters(key .. ':dead', dead, kept)
  if own.lanes then write_lanes(key .. ':lanes', own.lanes, 1) end
  for _, id in ipairs(own.recovered or {}) do redis.call('XDEL', key .. ':dead', id) end
  if own.replay then write_replay(key, own.replay) end
  local fields, result = own.progress, enabled and 1 or 0
  -- The cursor comes first.
  if fields[1] == 'cursor' then
    fields[#fields + 1], fields[#fields + 2] = 'timeline', timeline_of(fields[2])
  end
  if same_endpoint then
    for i = 1, #own.endpoint do fields[#fields + 1] = own.endpoint[i] end
  end
  if own.announced then append(own.announced, 1) end
  local function change(now_enabled, reason, disabled_at)
    for _, each in ipairs({ 'enabled', now_enabled, 'disabledReason', reason, 'disabledAt', disabled_at }) do
      fields[#fields + 1] = each
    end
  end
  if own.disabling and same_endpoint and (enabled or asked) then
    change('0', own.disabling[1], own.disabling[2])
    append(own.disabling, 3)
    result = -1
  elseif own.enabling and same_endpoint and asked then
    change('1', '', '0')
    append(own.enabling, 1)
    result = 2
  end
  if own.lags ~= '' then fields[#fields + 1], fields[#fields + 2] = 'lags', own.lags end
  if #fields > 0 then redis.call('HSET', key, unpack(fields)) end
  return result
end

local results, at, has_failed = { 1, 0, '', (changes_since(KEYS[7], '')) }, 12, false
while at <= #ARGV do
  local own = cjson.decode(ARGV[at])
  local ok, result = pcall(settle, own, at + 1)
  if not ok then
    local text = type(result) == 'table' and result.err or tostring(result)
    -- Of the server and not of a key: all that comes after would fail in the same way.
    for _, of_server in ipairs({ 'OOM ', 'READONLY ', 'MISCONF ', 'CLUSTERDOWN ', 'MASTERDOWN ', 'NOREPLICAS ' }) do
      if string.find(text, of_server, 1, true) then error(result) end
    end
    result, has_failed = text, true
  end
  results[#results + 1] = result
  at = at + 1 + own.attempts
end
-- Last: what is before it says which subscriptions are not at the level. One that could not be written
-- holds it.
if not has_failed then redis.call('HSET', KEYS[1], 'level', ARGV[5], 'timeline', timeline_of(ARGV[5])) end
redis.call('HSET', KEYS[1], 'settles', ARGV[2] + 1, 'nextAt', ARGV[6], 'seen', ARGV[7], 'at', ARGV[11])
results[2], results[3] = read_head(KEYS[2])
return results
