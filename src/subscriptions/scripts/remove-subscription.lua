-- Removes a subscription with everything of its delivery.
--
-- KEYS   1 subscriptions  2 quota  3 order  4 certificates  5 certificate warnings  6 changes, then the
-- keys of
--        its delivery, the first of which holds its replays
-- ARGV   1 id  2 its settings as stored ('' = whatever they are)  3 version of the settings from now on
-- Reply  1, or 0 when there was no such subscription, or its settings are others
-- @include ../../redis/quota/quota.lua
-- @include note-ends.lua
-- @include ../../delivery/store/changes.lua
local text = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] ~= '' and text ~= ARGV[2] then return 0 end
if text and redis.call('EXISTS', KEYS[2]) == 1 then
  -- Garbage is counted anew at the next look.
  redis.pcall('DECRBY', KEYS[2], subscription_bytes(#text) + kept_replays_bytes(KEYS[7]))
end
forget_ends(KEYS[4], KEYS[5], ARGV[1])
-- A quote within a text is escaped in JSON, so that no description looks like the fields. The place of
-- garbage is unknown: it stays, and lists pass over it.
local created_at = string.match(text or '', '"createdAt":(%d+)')
if created_at then
  local place = string.format(' %015d %s', created_at, ARGV[1])
  redis.pcall('ZREM', KEYS[3], place, (string.match(text, '"createdBy":"(tok_%w+)"') or '') .. place)
end
redis.call('UNLINK', unpack(KEYS, 7))
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
note_change(KEYS[6], ARGV[3], ARGV[1])
return 1
