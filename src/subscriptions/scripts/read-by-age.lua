-- Reads a page of an account's subscriptions in the order of their age.
--
-- KEYS   1 by age  2 subscriptions
-- ARGV   1 age and 2 id of the last one before the page (both '' = from the first on)  3 maximum number
-- Reply  id and age of each in turn, or nil: the order is not whole
local order = KEYS[1]
-- One is missing or too many: another program has written the subscriptions alone.
if redis.call('ZCARD', order) ~= redis.call('HLEN', KEYS[2]) then return nil end
local first = 0
if ARGV[1] ~= '' then
  -- Those of the same age sort by id.
  local low, high = redis.call('ZCOUNT', order, '-inf', '(' .. ARGV[1]), redis.call('ZCOUNT', order, '-inf', ARGV[1])
  while low < high do
    local middle = math.floor((low + high) / 2)
    if redis.call('ZRANGE', order, middle, middle)[1] <= ARGV[2] then low = middle + 1 else high = middle end
  end
  first = low
end
return redis.call('ZRANGE', order, first, first + tonumber(ARGV[3]) - 1, 'WITHSCORES')
