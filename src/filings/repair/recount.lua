-- Replaces an account's counts of filings by status, unless they have changed.
--
-- KEYS   1 counts
-- ARGV   1 number of values of the counts as they were found, then these as status and count in turn, then
--        the new ones likewise
-- Reply  1 = replaced, 0 = another process has written meanwhile
local found, last = {}, 1 + tonumber(ARGV[1])
for i = 2, last, 2 do found[ARGV[i]] = ARGV[i + 1] end
local counts = redis.call('HGETALL', KEYS[1])
if #counts ~= last - 1 then return 0 end
for i = 1, #counts, 2 do
  if found[counts[i]] ~= counts[i + 1] then return 0 end
end
if #ARGV > last then redis.call('HSET', KEYS[1], unpack(ARGV, last + 1)) end
return 1
