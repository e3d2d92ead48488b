-- Notes that an account is about to have rejections, before they are written.
--
-- KEYS   1 accounts  2 rejecting
-- ARGV   1 account  2 since when the oldest of them is rejected, and 3 the newest (ms)
-- Reply  1, or 0 with nothing written when the account is gone: nothing is written for it any more
--
-- A note is `<oldest> <newest> <ms on the clock of the server at which it was written>`; '' is unknown.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
local found = redis.pcall('HGET', KEYS[2], ARGV[1])
if type(found) == 'table' then return 0 end
local oldest, newest = string.match(found or '', '^(%d+) (%d+) %d+$')
if found and not oldest then oldest, newest = 0, 999999999999999 end
oldest = math.min(tonumber(oldest or ARGV[2]), tonumber(ARGV[2]))
newest = math.max(tonumber(newest or ARGV[3]), tonumber(ARGV[3]))
local time = redis.call('TIME')
local note = string.format('%.0f %.0f %.0f', oldest, newest, time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[2], ARGV[1], note)
return 1
