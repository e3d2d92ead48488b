-- Writes or ends a subscription's block.
--
-- KEYS  1 subscriptions  2 delivery state
-- ARGV  1 subscription id  2 settings that the block is about  3 block (JSON, '' = none)
-- Reply 1, or 0 when nothing was written: the settings have changed, or the subscription is disabled or gone.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] or redis.call('HGET', KEYS[2], 'enabled') == '0' then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[2], 'blocked') else redis.call('HSET', KEYS[2], 'blocked', ARGV[3]) end
return 1
