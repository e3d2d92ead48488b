-- Writes what one drain has learnt, in one step, unless a later drain of the subscription has begun; with nothing to
-- write it only looks. What is known of the endpoint is left out when the settings have changed meanwhile: it is about
-- the endpoint of before.
--
-- KEYS  1 subscriptions  2 delivery state  3 lanes  4 attempts  5 dead letters  6 replays  7 head  8 events  9 resting
-- ARGV  subscription id, epoch, version, oldest stream id kept of attempts and dead letters,
--       then lists, each preceded by its length in values:
--       progress as fields and values; endpoint as fields and values; lanes as filing and JSON ('' = empty now);
--       attempts; dead letters; ids of dead letters that were delivered after all; replay as id, its state and
--       '1' when it is finished; an event as id, type, recorded at (ms) and body; disabling as reason and such an event
-- Reply { 1, head, enabled }, followed, if the settings have changed, by { settings, state fields and values, ids of
--       the unfinished replays }; or { 0 } when nothing was written: the subscription is gone or another drain holds it.
local state = redis.call('HMGET', KEYS[2], 'epoch', 'version', 'enabled')
if state[1] ~= ARGV[2] then return { 0 } end
-- The list of subscriptions goes first when an account is removed, the state some time later.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return { 0 } end
local same, enabled, at = state[2] == ARGV[3], state[3], 5
local function list()
  local from = at + 1
  at = from + tonumber(ARGV[at])
  return from, at - 1
end

local function append(first)
  local position = redis.call('INCR', KEYS[7])
  redis.call('XADD', KEYS[8], position .. '-0', 'id', ARGV[first], 'type', ARGV[first + 1], 'filing', '', 'state', '',
    'at', ARGV[first + 2], 'body', ARGV[first + 3])
end

local from, to = list()
if to >= from then redis.call('HSET', KEYS[2], unpack(ARGV, from, to)) end
from, to = list()
if same and to >= from then
  redis.call('HSET', KEYS[2], unpack(ARGV, from, to))
  for i = from, to, 2 do
    if ARGV[i] == 'pausedUntil' and ARGV[i + 1] == '0' then redis.call('HDEL', KEYS[9], ARGV[1])
    elseif ARGV[i] == 'pausedUntil' then redis.call('HSET', KEYS[9], ARGV[1], ARGV[i + 1]) end
  end
end
from, to = list()
for i = from, to, 2 do
  if ARGV[i + 1] == '' then redis.call('HDEL', KEYS[3], ARGV[i]) else redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1]) end
end
from, to = list()
for i = from, to do redis.call('XADD', KEYS[4], 'MINID', '~', ARGV[4], '*', 'a', ARGV[i]) end
from, to = list()
for i = from, to do redis.call('XADD', KEYS[5], 'MINID', '~', ARGV[4], '*', 'd', ARGV[i]) end
from, to = list()
for i = from, to do redis.call('XDEL', KEYS[5], ARGV[i]) end

from, to = list()
if to >= from then
  redis.call('HSET', KEYS[6], ARGV[from] .. ':state', ARGV[from + 1])
  if ARGV[from + 2] == '1' then
    local left = {}
    for id in string.gmatch(redis.call('HGET', KEYS[6], 'running') or '', '%S+') do
      if id ~= ARGV[from] then left[#left + 1] = id end
    end
    redis.call('HSET', KEYS[6], 'running', table.concat(left, ' '))
    redis.call('HSET', KEYS[2], 'replaying', #left)
  end
end

from, to = list()
if to >= from then append(from) end
from, to = list()
if to >= from and same and enabled == '1' then
  enabled = '0'
  redis.call('HSET', KEYS[2], 'enabled', 0, 'disabledReason', ARGV[from])
  redis.call('HSET', KEYS[9], ARGV[1], 'disabled')
  append(from + 1)
end

local head = tonumber(redis.call('GET', KEYS[7]) or '0')
if same then return { 1, head, tonumber(enabled) } end
return { 1, head, tonumber(enabled), redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HGETALL', KEYS[2]),
  redis.call('HGET', KEYS[6], 'running') or '' }
