-- Replaces a subscription's settings if they are still the ones that the caller read. Any change also ends
-- the block that kept the daemon from delivering, or replaces it.
--
-- KEYS  1 subscriptions  2 delivery state  3 resting  4 quota  5 registrations  6 tokens  7 lagging
--       8 certificates  9 certificate warnings  10 version of the settings
-- ARGV  id, expected settings, new settings, enabled ('1', '0' or '' = as it is), reason of disabling,
--       '1' = the endpoint may answer otherwise now: forget its health, and make all that waits due at once,
--       maximum bytes of an account, block of the new settings (JSON, '' = none), version of the
--       settings from now on, its certificates (note_ends)
-- Reply 1, 0 when the settings have changed or the subscription is gone, or 'quota <bytes stored>' when they
--       are longer and the account would store too much; then nothing was written.
-- @include ../../redis/quota/quota.lua
-- @include note-ends.lua
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local stored = stored_bytes(KEYS[4], KEYS[1], KEYS[5], KEYS[6])
local more = #ARGV[3] - #ARGV[2]
if more > 0 and stored + more > tonumber(ARGV[7]) then return 'quota ' .. string.format('%d', stored) end
redis.call('INCRBY', KEYS[4], more)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('SET', KEYS[10], ARGV[9])
redis.call('HINCRBY', KEYS[2], 'version', 1)
redis.call('UNLINK', KEYS[7])
note_ends(KEYS[8], KEYS[9], ARGV[1], 10)
if ARGV[8] == '' then redis.call('HDEL', KEYS[2], 'blocked') else redis.call('HSET', KEYS[2], 'blocked', ARGV[8]) end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[2], 'enabled', ARGV[4], 'disabledReason', ARGV[5]) end
if ARGV[6] == '1' then
  redis.call('HINCRBY', KEYS[2], 'endpointVersion', 1)
  redis.call('HSET', KEYS[2], 'failures', 0, 'failedFilings', '[]', 'failingSince', 0, 'workedAt', 0, 'pausedUntil', 0,
    'probes', 0, 'release', 1)
  redis.call('HDEL', KEYS[2], 'obstacle')
end
local state = redis.call('HMGET', KEYS[2], 'enabled', 'pausedUntil')
if state[1] == '0' then redis.call('HSET', KEYS[3], ARGV[1], 'disabled')
elseif (state[2] or '0') ~= '0' then redis.call('HSET', KEYS[3], ARGV[1], state[2])
else redis.call('HDEL', KEYS[3], ARGV[1]) end
return 1
