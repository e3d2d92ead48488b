-- Lists some of the accounts, or ends the listing.
--
-- KEYS   1 accounts  2 names  3 unsound  4 rejecting
-- ARGV   1 the place where to go on, '0' = begin, '' = end  2 about how many accounts
-- Reply  the next place, '0' after the last one, or nil when another process has ended the listing; at the
--        end 1, or 0 when there are other accounts than were listed
--
-- Processes that list at once, or after one that has crashed, add to the same names: each has seen all that
-- exist when it ends, and names of accounts that are gone show as too many.
-- @include lists.lua
local accounts, names, unsound, rejecting = unpack(KEYS)
drop_misfits(names, unsound, rejecting)
if ARGV[1] == '' then
  if not redis.call('ZSCORE', names, ' ') then return redis.call('ZSCORE', names, '') and 1 or 0 end
  if redis.call('ZCARD', names) - 1 ~= redis.call('HLEN', accounts) then
    redis.call('UNLINK', names)
    return 0
  end
  redis.call('ZREM', names, ' ')
  redis.call('ZADD', names, 0, '')
  return 1
end
if not redis.call('ZSCORE', names, ' ') then
  if ARGV[1] ~= '0' then return nil end
  redis.call('UNLINK', names)
  redis.call('ZADD', names, 0, ' ')
end
local scanned = redis.call('HSCAN', accounts, ARGV[1], 'COUNT', ARGV[2])
for i = 1, #scanned[2], 2 do
  list_account(names, unsound, scanned[2][i])
  -- Whether it has rejections is not known.
  redis.call('HSETNX', rejecting, scanned[2][i], '')
end
return scanned[1]
