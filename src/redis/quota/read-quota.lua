-- Reads how much an account stores: through the API, and of attempts and dead letters. The latter are
-- measured for at most 200 of its subscriptions, drawn at random, and reckoned from these for the others.
--
-- KEYS   1 quota  2 subscriptions  3 registrations  4 tokens  5 incarnation
-- Reply  number of bytes; 0 when the account is removed
-- @include quota.lua
if string.match(redis.call('GET', KEYS[5]) or '', '^closed ') then return 0 end
local base, measured = string.match(KEYS[1], '^(.*):'), 0
local drawn = redis.call('HRANDFIELD', KEYS[2], 200)
for _, id in ipairs(drawn) do
  for _, name in ipairs({ ':attempts', ':dead' }) do
    local bytes = redis.pcall('MEMORY', 'USAGE', base .. ':sub:' .. id .. name)
    measured = measured + (type(bytes) == 'number' and bytes or 0)
  end
end
local delivery = #drawn == 0 and 0 or measured * redis.call('HLEN', KEYS[2]) / #drawn
return math.floor(stored_bytes(KEYS[1], KEYS[2], KEYS[3], KEYS[4]) + delivery)
