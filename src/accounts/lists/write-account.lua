-- Writes or removes the record of an account, and lists it.
--
-- KEYS   1 accounts  2 names  3 unsound  4 rejecting
-- ARGV   1 account  2 '1' = it is expected to have a record, '' = none  3 that record ('' with none)
--        4 the new record ('' = none)
-- Reply  1, or 0 with nothing written when it has another record
--
-- With the first of all accounts the lists are whole.
-- @include lists.lua
local accounts, names, unsound, rejecting = unpack(KEYS)
local account = ARGV[1]
local found = redis.call('HGET', accounts, account)
if (ARGV[2] == '1' and found ~= ARGV[3]) or (ARGV[2] ~= '1' and found) then return 0 end
drop_misfits(names, unsound, rejecting)
if ARGV[4] == '' then
  redis.call('HDEL', accounts, account)
  unlist_account(names, unsound, rejecting, account)
  return 1
end
redis.call('HSET', accounts, account, ARGV[4])
if not found then
  if redis.call('HLEN', accounts) == 1 then
    redis.call('UNLINK', names, unsound, rejecting)
    redis.call('ZADD', names, 0, '')
  end
  -- Where the names are not listed yet, they all will be.
  if redis.call('EXISTS', names) == 1 then list_account(names, unsound, account) end
else
  -- Another interval makes it stale at another time.
  redis.call('ZADD', unsound, 0, account)
end
return 1
