-- Disables a subscription that is not delivered to now, and appends the event about it, in one step.
--
-- KEYS  1 subscriptions  2 delivery state  3 changes  4 head  5 events  6 bodies
-- ARGV  1 subscription id  2 settings for which it is disabled  3 reason  4 version of the settings from
-- now on
--       5 to 8 an event as id, type, recorded at (ms) and body
-- Reply 1, or 0 when nothing was written: the settings have changed, or it is disabled or gone.
-- @include ../../events/log.lua
-- @include changes.lua
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if redis.call('HGET', KEYS[2], 'enabled') == '0' then return 0 end
append_event(KEYS[4], KEYS[5], KEYS[6], ARGV[5], ARGV[6], '', '', '', ARGV[7], ARGV[8])
redis.call('HSET', KEYS[2], 'enabled', 0, 'disabledReason', ARGV[3])
note_change(KEYS[3], ARGV[4], ARGV[1])
return 1
