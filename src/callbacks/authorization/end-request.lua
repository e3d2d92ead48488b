-- Ends the turn of a process to request a token, and keeps what came of it. A turn that was lost, because it
-- took too long or the subscription was removed or changed, keeps nothing.
--
-- KEYS   1 access token
-- ARGV   1 name of the request  2 milliseconds that the key lives on at least, then fields and values to keep
-- Reply  1, or 0 where the turn was lost
if redis.call('TYPE', KEYS[1])['ok'] ~= 'hash' or redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 'holder', 'heldUntil')
if #ARGV > 2 then
  redis.call('HDEL', KEYS[1], 'failure', 'restFrom', 'restUntil', 'failures', 'asked')
  redis.call('HSET', KEYS[1], unpack(ARGV, 3))
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
