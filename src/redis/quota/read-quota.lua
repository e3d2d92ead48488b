-- Reads how much an account stores through the API.
--
-- KEYS   1 quota  2 subscriptions  3 registrations  4 tokens
-- Reply  number of bytes
-- @include quota.lua
return (stored_bytes(KEYS[1], KEYS[2], KEYS[3], KEYS[4]))
