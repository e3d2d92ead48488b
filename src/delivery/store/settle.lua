-- Writes the results of a drain in one step, unless a later drain of the subscription has begun or Redis was
-- set back under this one; with nothing to write it only looks. The endpoint's fields are left out when it
-- may answer otherwise since a change of the settings.
--
-- KEYS  1 subscriptions  2 head  3 events  4 bodies  5 resting; of the subscription 6 delivery state  7 lanes
--       8 attempts  9 dead letters  10 replays  11 lanes of the oldest unfinished replay
-- ARGV  1 subscription id  2 epoch  3 number of settles of this drain so far  4 version  5 endpoint version
--       6 newest position of the log that the drain knows  7 its timeline
--       8 the head when that position was last found in the log ('' = not yet)
--       9 oldest stream id kept of attempts and dead letters  10 '1' = there is something to write
--       11 maximum bytes of the account's attempts and dead letters; a third of them is for dead letters
--       12 length of the progress and 13 of the endpoint's fields, both in values
--       then progress as fields and values, without the cursor's timeline if the drain does not know it;
--       endpoint as fields and values;
--       then lists, each preceded by its length in values: lanes as filing and JSON ('' = empty now);
--       dead letters; ids of dead letters that were delivered after all; lanes of the replay,
--       likewise; replay as id, state ('' = as before) and '1' when it is finished; an event as id, type,
--       recorded at (ms) and body; disabling as reason and such an event
-- LINES attempts
-- Reply { 1, head, its timeline, enabled, passed }, with 0 and '' for a head as in ARGV 8, in `enabled` 1 or
--         0, or -1 where this call has disabled it, and in `passed` the cursor as it was found if a look had
--         moved it beyond what the drain knows, else 0; followed by
--         { settings, state as fields and values, ids of the unfinished replays } if the settings changed;
--       { 0 } when nothing was written because the subscription is gone, another drain holds it, or a settle
--       of this one is missing;
--       { -1 } when the log is not the one that the drain knows: Redis was set back.
-- @include ../../events/log.lua
local state = redis.call('HMGET', KEYS[6], 'epoch', 'version', 'enabled', 'settles', 'endpointVersion', 'cursor')
-- The list of subscriptions goes first when an account is removed, the state some time later.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return { 0 } end
-- Calls of one batch are of one moment, up to an event that one of them appends.
batch.head = batch.head or redis.call('GET', KEYS[2]) or '0'
local head_now = batch.head
if head_now ~= ARGV[8] and not is_same_log(KEYS[2], KEYS[3], tonumber(ARGV[6]), ARGV[7]) then return { -1 } end
if state[1] ~= ARGV[2] or state[4] ~= ARGV[3] then return { 0 } end
local same, same_endpoint = state[2] == ARGV[4], (state[5] or '0') == ARGV[5]
local enabled, oldest_kept = state[3], ARGV[9]
local passed = tonumber(state[6] or '') or 0
if passed <= tonumber(ARGV[6]) or timeline_at(KEYS[2], KEYS[3], passed) ~= redis.call('HGET', KEYS[6], 'timeline') then
  passed = 0
end
if ARGV[10] == '1' and ARGV[3] == '0' then
  -- The drain's first: fails here, with nothing written, if one of these keys is of the wrong type.
  for place = batch.checked and 7 or 4, 11 do
    if place ~= 6 then redis.call((place == 8 or place == 9) and 'XLEN' or 'HLEN', KEYS[place]) end
  end
  batch.checked = true
end
local progress_end = 13 + ARGV[12]
local endpoint_end = progress_end + ARGV[13]
local at = endpoint_end + 1
local function list()
  local from = at + 1
  at = from + ARGV[at]
  return from, at - 1
end

local function write_lanes(key, from, to)
  for i = from, to, 2 do
    if ARGV[i + 1] == '' then redis.call('HDEL', key, ARGV[i]) else redis.call('HSET', key, ARGV[i], ARGV[i + 1]) end
  end
end

local has_appended = false
local function append(first)
  has_appended = true
  batch.head = nil
  append_event(KEYS[2], KEYS[3], KEYS[4], ARGV[first], ARGV[first + 1], '', '', '', ARGV[first + 2], ARGV[first + 3])
end

-- Adds records to a stream. If it takes more than its subscription's equal share of the account's bytes, the
-- oldest go, but for `least` of them, and a mark of polling says when. A stream is measured whenever it has
-- grown by up to a fourth of its share.
local function add(key, name, records, part, least, mark)
  if #records == 0 then return end
  local id
  for i, record in ipairs(records) do
    if i == 1 then id = redis.call('XADD', key, 'MINID', '~', oldest_kept, '*', name, record)
    else id = redis.call('XADD', key, '*', name, record) end
  end
  local share = ARGV[11] * part / redis.call('HLEN', KEYS[1])
  local length, step = redis.call('XLEN', key), math.max(1, math.min(256, math.floor(share / 16384)))
  if length <= least or length % step >= #records then return end
  local bytes = redis.pcall('MEMORY', 'USAGE', key, 'SAMPLES', 0)
  -- A server without the command counts a KiB for each record: no settle fails for it.
  if type(bytes) ~= 'number' then bytes = length * 1024 end
  if bytes <= share then return end
  if redis.call('XTRIM', key, 'MAXLEN', '~', math.max(least, math.floor(length * share / bytes))) > 0 then
    redis.pcall('HSET', string.match(KEYS[1], '^(.*):') .. ':polling', mark, string.match(id, '^%d+'))
  end
end

-- The cursor is written last. If Redis carries out only the first half, after its file was cut, events may be
-- repeated and none is lost.
local from, to = list()
write_lanes(KEYS[7], from, to)
add(KEYS[8], 'a', LINES, 2 / 3, 1, 'attemptsDroppedAt')
from, to = list()
add(KEYS[9], 'd', { unpack(ARGV, from, to) }, 1 / 3, 100, 'deadLettersDroppedAt')
from, to = list()
for i = from, to do redis.call('XDEL', KEYS[9], ARGV[i]) end

local lanes_from, lanes_to = list()
from, to = list()
-- A replay that was cancelled meanwhile does not run any more: nothing of it is written.
local running, runs = {}, false
if to >= from then
  for id in string.gmatch(redis.call('HGET', KEYS[10], 'running') or '', '%S+') do
    if id == ARGV[from] then runs = true else running[#running + 1] = id end
  end
end
if runs then
  write_lanes(KEYS[11], lanes_from, lanes_to)
  if ARGV[from + 1] ~= '' then redis.call('HSET', KEYS[10], ARGV[from] .. ':state', ARGV[from + 1]) end
  if ARGV[from + 2] == '1' then
    redis.call('UNLINK', KEYS[11])
    redis.call('HSET', KEYS[10], 'running', table.concat(running, ' '))
    redis.call('HSET', KEYS[6], 'replaying', #running)
  end
end

if ARGV[10] == '1' then
  redis.call('HSET', KEYS[6], 'settles', ARGV[3] + 1, unpack(ARGV, 14, same_endpoint and endpoint_end or progress_end))
end
-- The cursor comes first, its timeline behind it.
if progress_end > 13 and ARGV[14] == 'cursor' and ARGV[16] ~= 'timeline' then
  redis.call('HSET', KEYS[6], 'timeline', timeline_at(KEYS[2], KEYS[3], tonumber(ARGV[15])) or '')
end
for i = progress_end + 1, same_endpoint and enabled ~= '0' and endpoint_end or 0, 2 do
  if ARGV[i] == 'restsUntil' then
    if ARGV[i + 1] == '0' then redis.call('HDEL', KEYS[5], ARGV[1])
    else redis.call('HSET', KEYS[5], ARGV[1], ARGV[i + 1]) end
  end
end

from, to = list()
if to >= from then append(from) end
from, to = list()
if to >= from and same_endpoint and enabled == '1' then
  enabled = '-1'
  redis.call('HSET', KEYS[6], 'enabled', 0, 'disabledReason', ARGV[from])
  redis.call('HSET', KEYS[5], ARGV[1], 'disabled')
  append(from + 1)
end

local head, head_timeline = 0, ''
if has_appended or head_now ~= ARGV[8] then head, head_timeline = read_head(KEYS[2]) end
if same then return { 1, head, head_timeline, tonumber(enabled), passed } end
return { 1, head, head_timeline, tonumber(enabled), passed, redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HGETALL', KEYS[6]),
  redis.call('HGET', KEYS[10], 'running') or '' }
