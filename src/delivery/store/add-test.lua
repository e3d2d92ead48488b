-- Adds the attempt of a test call, unless the subscription is gone.
--
-- KEYS  1 subscriptions  2 attempts  3 polling
-- ARGV  1 subscription id  2 oldest stream id kept  3 maximum bytes of the account's attempts and dead
--       letters  4 the attempt
-- @include add-records.lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return end
local kept = { oldest = ARGV[2], bytes = tonumber(ARGV[3]), subscriptions = KEYS[1], marks = KEYS[3] }
add_attempts(KEYS[2], ARGV, 4, 4, kept)
