-- Writes or removes the record of an account, and lists it.
--
-- KEYS   1 accounts  2 names  3 unsound  4 rejecting
-- ARGV   1 account  2 '1' = it is expected to have a record, '' = none  3 that record ('' with none)
--        4 the new record ('' = none)
-- Reply  1, or 0 with nothing written when it has another record
local accounts, names, unsound, rejecting = unpack(KEYS)
local account = ARGV[1]
local found = redis.call('HGET', accounts, account)
if (ARGV[2] == '1' and found ~= ARGV[3]) or (ARGV[2] ~= '1' and found) then return 0 end
if ARGV[4] == '' then
  redis.call('HDEL', accounts, account)
  for _, list in ipairs({ names, unsound, rejecting }) do redis.call('ZREM', list, account) end
  return 1
end
redis.call('HSET', accounts, account, ARGV[4])
redis.call('ZADD', names, 0, account)
-- It is unsound until it was looked at; another interval makes it stale at another time.
redis.call('ZADD', unsound, 0, account)
return 1
