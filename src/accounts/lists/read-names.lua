-- Reads the records of the accounts that follow a name, in the order of their names.
--
-- KEYS   1 accounts  2 names  3 rejecting
-- ARGV   1 the name ('' = from the first on)  2 maximum number of accounts
-- Reply  { names, records }, or nil when the names are not whole and have to be listed
local accounts, names, rejecting = unpack(KEYS)
local count = redis.call('HLEN', accounts)
if count == 0 then return { {}, {} } end
local hash = redis.call('TYPE', rejecting).ok
if redis.call('TYPE', names).ok ~= 'zset' or (hash ~= 'hash' and hash ~= 'none') then return nil end
if not redis.call('ZSCORE', names, '') or redis.call('ZCARD', names) - 1 ~= count then return nil end
local found = redis.call('ZRANGEBYLEX', names, '(' .. ARGV[1], '+', 'LIMIT', 0, ARGV[2])
if #found == 0 then return { {}, {} } end
local records = redis.call('HMGET', accounts, unpack(found))
for i = 1, #found do
  -- The names are not those of the records.
  if not records[i] then return nil end
end
return { found, records }
