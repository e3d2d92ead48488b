-- Writes what one drain has learnt, in one step, unless a later drain of the subscription has begun.
--
-- KEYS  1 delivery state  2 lanes  3 attempts  4 dead letters
-- ARGV  epoch, attempts kept, then four lists, each preceded by its length in values:
--       state fields and values; lanes as filing and JSON ('' = the lane is empty now); attempts; dead letters
-- Reply { 1, version of the settings, enabled }, or { 0 } when nothing was written: the subscription is gone or
--       another drain holds it now.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return { 0 } end
local at = 3
local function list()
  local from = at + 1
  at = from + tonumber(ARGV[at])
  return from, at - 1
end
local from, to = list()
if to >= from then redis.call('HSET', KEYS[1], unpack(ARGV, from, to)) end
from, to = list()
for i = from, to, 2 do
  if ARGV[i + 1] == '' then redis.call('HDEL', KEYS[2], ARGV[i]) else redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
end
from, to = list()
for i = from, to do redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[2], '*', 'a', ARGV[i]) end
from, to = list()
for i = from, to do redis.call('XADD', KEYS[4], '*', 'd', ARGV[i]) end
local now = redis.call('HMGET', KEYS[1], 'version', 'enabled')
return { 1, tonumber(now[1]), tonumber(now[2]) }
