-- Reads the oldest filing of each of some statuses.
--
-- KEYS   1 newest  2 index
-- ARGV   the statuses
-- Reply  a member for each ('' = none), or nil: the order is not whole
local newest, index = unpack(KEYS)
if not redis.call('ZSCORE', newest, '') then return nil end
if redis.call('ZCARD', newest) - 1 ~= redis.call('ZCARD', index) then return nil end
local found = {}
for i, status in ipairs(ARGV) do
  found[i] = redis.call('ZREVRANGEBYLEX', newest, '(' .. status .. '\1', '[' .. status .. '\0', 'LIMIT', 0, 1)[1] or ''
end
return found
