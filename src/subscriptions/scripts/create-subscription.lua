-- Registers a subscription, once per idempotency key.
--
-- KEYS  1 subscriptions  2 delivery state  3 head  4 idempotency key  5 events  6 incarnation  7 quota
--       8 registrations  9 tokens  10 order  11 replays  12 changes  13 certificates
--       14 certificate warnings  15 delivery
-- ARGV  id, subscription (JSON), 'now', 'earliest' or 'state', idempotency record ('' = none asked for), its
--       lifetime (ms), maximum number of an account, maximum bytes of an account, maximum number of
--       idempotency records, its members in the order of all and of its maker ('' = none), reason of being
--       disabled ('' = enabled), block (JSON, '' = none), id of its first replay ('' = none), request, JSON
--       and state of it, number of its filings, version of the settings from now on, its certificates
--       (note_ends)
-- Reply '' when it was created, 'gone' when the account is removed, 'full' when there are as many as may be,
--       'quota <bytes stored>' when the account would store too much, 'keys' when it has used too many
--       idempotency keys, else the idempotency record of the request that came first.
-- @include ../../events/log.lua
-- @include ../../redis/quota/quota.lua
-- @include note-ends.lua
-- @include ../../delivery/store/changes.lua
if string.match(redis.call('GET', KEYS[6]) or '', '^closed ') then return 'gone' end
local first = ARGV[4] ~= '' and redis.call('GET', KEYS[4])
if first then return first end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[6]) then return 'full' end

local stored, now = stored_bytes(KEYS[7], KEYS[1], KEYS[8], KEYS[9])
local remembered = ARGV[4] ~= '' and registration_bytes(#ARGV[4]) or 0
local first_replay = ARGV[13] ~= '' and replay_bytes(#ARGV[15], #ARGV[14]) or 0
local bytes = subscription_bytes(#ARGV[2]) + remembered + first_replay
if stored + bytes > tonumber(ARGV[7]) then return 'quota ' .. string.format('%d', stored) end
if remembered > 0 then
  if redis.call('ZCARD', KEYS[8]) >= tonumber(ARGV[8]) then return 'keys' end
  redis.call('SET', KEYS[4], ARGV[4], 'PX', ARGV[5])
  redis.call('ZADD', KEYS[8], now + ARGV[5], string.match(KEYS[4], '[^:]*$') .. ' ' .. remembered)
end
redis.call('INCRBY', KEYS[7], bytes)

local cursor, timeline = read_head(KEYS[3])
if ARGV[3] == 'earliest' then
  -- Not simply 0, because events that retention removed before the subscription existed are not missing.
  cursor = (oldest_position(KEYS[5]) or cursor + 1) - 1
  timeline = timeline_at(KEYS[3], KEYS[5], cursor)
  redis.call('HSET', KEYS[2], 'lags', 1)
end
redis.call('HSET', KEYS[2], 'cursor', cursor)
-- A cursor at the level has the level's timeline, and is brought back with it.
local level = redis.call('HMGET', KEYS[15], 'level', 'timeline')
if ARGV[3] == 'earliest' or level[1] ~= tostring(cursor) or level[2] ~= timeline then
  redis.call('HSET', KEYS[2], 'timeline', timeline)
end
if ARGV[11] ~= '' then
  redis.call('HSET', KEYS[2], 'enabled', 0, 'disabledReason', ARGV[11])
end
if ARGV[12] ~= '' then redis.call('HSET', KEYS[2], 'blocked', ARGV[12]) end
if ARGV[13] ~= '' then
  local replay = ARGV[13]
  redis.call('HSET', KEYS[11], replay, ARGV[15], replay .. ':request', ARGV[14], replay .. ':state', ARGV[16], 'kept',
    replay, 'running', replay)
  redis.call('HSET', KEYS[2], 'replaying', 1, 'snapshots', ARGV[17])
end
redis.call('ZADD', KEYS[10], 0, ARGV[9])
if ARGV[10] ~= '' then redis.call('ZADD', KEYS[10], 0, ARGV[10]) end
note_ends(KEYS[13], KEYS[14], ARGV[1], 19)
note_change(KEYS[12], ARGV[18], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ''
