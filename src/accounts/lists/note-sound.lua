-- Notes until when the polling of an account is known to be as it should be.
--
-- KEYS   1 accounts  2 unsound  3 rejecting
-- ARGV   1 account  2 the time (ms), 0 = it is not  3 the time that is noted ('' = any)
-- Reply  1
--
-- What is noted of an account that is gone goes.
local account = ARGV[1]
for i = 2, 3 do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= (i == 2 and 'zset' or 'hash') then return 0 end
end
if redis.call('HEXISTS', KEYS[1], account) == 0 then
  redis.call('ZREM', KEYS[2], account)
  redis.call('HDEL', KEYS[3], account)
elseif ARGV[3] == '' or redis.call('ZSCORE', KEYS[2], account) == ARGV[3] then
  redis.call('ZADD', KEYS[2], ARGV[2], account)
end
return 1
