-- Adds filings to an order that is being made, each unless its status or its state has changed meanwhile:
-- from the beginning of the making on, commits keep the order themselves.
--
-- KEYS   1 newest  2 filings  3 index
-- ARGV   member, member of the index, id and state ('' = none) of each filing
-- Reply  1, or 0 where the order is no longer being made
local newest, filings, index = KEYS[1], KEYS[2], KEYS[3]
if not redis.call('ZSCORE', newest, '\0') then return 0 end
for i = 1, #ARGV, 4 do
  local is_listed = redis.call('ZSCORE', index, ARGV[i + 1])
  if is_listed and (redis.call('HGET', filings, ARGV[i + 2]) or '') == ARGV[i + 3] then
    redis.call('ZADD', newest, 0, ARGV[i])
  end
end
return 1
