-- Notes until when the polling of an account is known to be as it should be.
--
-- KEYS   1 accounts  2 unsound  3 rejecting
-- ARGV   1 account  2 the time (ms), 0 = it is not  3 the time that is noted ('' = any)
-- Reply  1
--
-- What is noted of an account that is gone goes. Nothing is noted in a list of another type: the next page of
-- names makes the lists anew.
local account = ARGV[1]
if redis.call('HEXISTS', KEYS[1], account) == 0 then
  redis.pcall('ZREM', KEYS[2], account)
  redis.pcall('HDEL', KEYS[3], account)
elseif ARGV[3] == '' or redis.pcall('ZSCORE', KEYS[2], account) == ARGV[3] then
  redis.pcall('ZADD', KEYS[2], ARGV[2], account)
end
return 1
