-- Corrects the note of an account's rejections, unless another has been written meanwhile.
--
-- KEYS   1 accounts  2 rejecting
-- ARGV   1 account  2 the note that was read ('-' = none)  3 the new note ('' = none)
-- Reply  1, or 0 with nothing written
local account = ARGV[1]
if (redis.call('HGET', KEYS[2], account) or '-') ~= ARGV[2] then return 0 end
if ARGV[3] == '' or redis.call('HEXISTS', KEYS[1], account) == 0 then redis.call('HDEL', KEYS[2], account)
else redis.call('HSET', KEYS[2], account, ARGV[3]) end
return 1
