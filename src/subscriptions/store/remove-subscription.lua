-- Removes a subscription with everything of its delivery.
--
-- KEYS   1 subscriptions  2 resting  3 quota  4 by age, then the keys of its delivery, the first of which
--        holds its replays
-- ARGV   1 id
-- Reply  1, or 0 when there was no such subscription
-- @include ../../redis/quota/quota.lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 and redis.call('EXISTS', KEYS[3]) == 1 then
  local bytes = subscription_bytes(redis.call('HSTRLEN', KEYS[1], ARGV[1])) + kept_replays_bytes(KEYS[5])
  -- Garbage is counted anew at the next look.
  redis.pcall('DECRBY', KEYS[3], bytes)
end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.pcall('ZREM', KEYS[4], ARGV[1])
redis.call('UNLINK', unpack(KEYS, 5))
return redis.call('HDEL', KEYS[1], ARGV[1])
