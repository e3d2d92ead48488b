-- Takes a step in emptying or opening an account's keys, unless somebody has gone on from there.
--
-- KEYS  1 incarnation, then keys that go
-- ARGV  its expected value ('' = there is none), its next value, for how long that stays (ms; '' = for ever)
-- Reply 1, or 0 when the value is another; then nothing was written.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
for i = 2, #KEYS do redis.call('UNLINK', KEYS[i]) end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
