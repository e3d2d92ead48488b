-- Reads how much an account stores through the API.
--
-- KEYS   1 quota  2 subscriptions  3 registrations  4 tokens  5 incarnation
-- Reply  number of bytes; 0 when the account is removed
-- @include quota.lua
if string.match(redis.call('GET', KEYS[5]) or '', '^closed ') then return 0 end
return (stored_bytes(KEYS[1], KEYS[2], KEYS[3], KEYS[4]))
