-- Adds filings to an order that is being made, each unless its state has changed meanwhile: from the
-- beginning of
-- the making on, commits keep the order themselves.
--
-- KEYS   1 newest  2 filings
-- ARGV   member, id and state ('' = none) of each filing
-- Reply  1, or 0 where the order is no longer being made
local newest, filings = KEYS[1], KEYS[2]
if not redis.call('ZSCORE', newest, '\0') then return 0 end
for i = 1, #ARGV, 3 do
  if (redis.call('HGET', filings, ARGV[i + 1]) or '') == ARGV[i + 2] then redis.call('ZADD', newest, 0, ARGV[i]) end
end
return 1
