-- Replaces a subscription's settings if they are still the ones that the caller read. Any change also ends
-- the block that kept the daemon from delivering, or replaces it.
--
-- KEYS  1 subscriptions  2 delivery state  3 quota  4 registrations  5 tokens  6 certificates
--       7 certificate warnings  8 changes
-- ARGV  id, expected settings, new settings, enabled ('1', '0' or '' = as it is), reason of disabling,
--       '1' = the endpoint may answer otherwise now: forget its health, and make all that waits due at once,
--       maximum bytes of an account, block of the new settings (JSON, '' = none), version of the
--       settings from now on, '1' = they have a rate, its certificates (note_ends)
-- Reply 1, 0 when the settings have changed or the subscription is gone, or 'quota <bytes stored>' when they
--       are longer and the account would store too much; then nothing was written.
-- @include ../../redis/quota/quota.lua
-- @include note-ends.lua
-- @include ../../delivery/store/changes.lua
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local stored = stored_bytes(KEYS[3], KEYS[1], KEYS[4], KEYS[5])
local more = #ARGV[3] - #ARGV[2]
if more > 0 and stored + more > tonumber(ARGV[7]) then return 'quota ' .. string.format('%d', stored) end
redis.call('INCRBY', KEYS[3], more)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
note_change(KEYS[8], ARGV[9], ARGV[1])
redis.call('HINCRBY', KEYS[2], 'version', 1)
if ARGV[10] == '' then redis.call('HDEL', KEYS[2], 'throttledUntil') end
note_ends(KEYS[6], KEYS[7], ARGV[1], 11)
if ARGV[8] == '' then redis.call('HDEL', KEYS[2], 'blocked') else redis.call('HSET', KEYS[2], 'blocked', ARGV[8]) end
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[2], 'enabled', ARGV[4], 'disabledReason', ARGV[5])
  redis.call('HDEL', KEYS[2], 'disabledAt', 'lost')
end
if ARGV[6] == '1' then
  redis.call('HINCRBY', KEYS[2], 'endpointVersion', 1)
  redis.call('HSET', KEYS[2], 'failures', 0, 'failedFilings', '[]', 'failingSince', 0, 'workedAt', 0, 'pausedUntil', 0,
    'probes', 0, 'release', 1)
  redis.call('HDEL', KEYS[2], 'obstacle')
end
return 1
