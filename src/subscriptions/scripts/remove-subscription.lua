-- Removes a subscription with everything of its delivery.
--
-- KEYS   1 subscriptions  2 resting  3 quota  4 by age  5 certificates  6 certificate warnings  7 by maker,
--        8 version of the settings, then the keys of its delivery, the first of which holds its replays
-- ARGV   1 id  2 its settings as stored ('' = whatever they are)  3 version of the settings from now on
-- Reply  1, or 0 when there was no such subscription, or its settings are others
-- @include ../../redis/quota/quota.lua
-- @include note-ends.lua
if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 and redis.call('EXISTS', KEYS[3]) == 1 then
  local bytes = subscription_bytes(redis.call('HSTRLEN', KEYS[1], ARGV[1])) + kept_replays_bytes(KEYS[9])
  -- Garbage is counted anew at the next look.
  redis.pcall('DECRBY', KEYS[3], bytes)
end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.pcall('ZREM', KEYS[4], ARGV[1])
forget_ends(KEYS[5], KEYS[6], ARGV[1])
local text = redis.call('HGET', KEYS[1], ARGV[1]) or ''
-- A quote within a text is escaped in JSON, so that no description looks like the fields.
local maker, created_at = string.match(text, '"createdBy":"(tok_%w+)"'), string.match(text, '"createdAt":(%d+)')
if maker and created_at then
  redis.pcall('ZREM', KEYS[7], string.format('%s %015d %s', maker, created_at, ARGV[1]))
end
redis.call('UNLINK', unpack(KEYS, 9))
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
-- An account that is gone, or without subscriptions, keeps no version.
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('UNLINK', KEYS[8]) else redis.call('SET', KEYS[8], ARGV[3]) end
return 1
