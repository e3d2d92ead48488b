-- Removes a subscription with everything of its delivery.
--
-- KEYS   1 subscriptions  2 resting  3 quota  4 order  5 certificates  6 certificate warnings  7 version of
--        the settings, then the keys of its delivery, the first of which holds its replays
-- ARGV   1 id  2 its settings as stored ('' = whatever they are)  3 version of the settings from now on
-- Reply  1, or 0 when there was no such subscription, or its settings are others
-- @include ../../redis/quota/quota.lua
-- @include note-ends.lua
local text = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] ~= '' and text ~= ARGV[2] then return 0 end
if text and redis.call('EXISTS', KEYS[3]) == 1 then
  -- Garbage is counted anew at the next look.
  redis.pcall('DECRBY', KEYS[3], subscription_bytes(#text) + kept_replays_bytes(KEYS[8]))
end
redis.call('HDEL', KEYS[2], ARGV[1])
forget_ends(KEYS[5], KEYS[6], ARGV[1])
-- A quote within a text is escaped in JSON, so that no description looks like the fields. The place of
-- garbage is unknown: it stays, and lists pass over it.
local created_at = string.match(text or '', '"createdAt":(%d+)')
if created_at then
  local place = string.format(' %015d %s', created_at, ARGV[1])
  redis.pcall('ZREM', KEYS[4], place, (string.match(text, '"createdBy":"(tok_%w+)"') or '') .. place)
end
redis.call('UNLINK', unpack(KEYS, 8))
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
-- An account that is gone, or without subscriptions, keeps no version.
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('UNLINK', KEYS[7]) else redis.call('SET', KEYS[7], ARGV[3]) end
return 1
