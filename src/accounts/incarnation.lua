-- Takes one step in emptying or opening an account's keys, unless another process has gone on from there.
--
-- KEYS   1 incarnation, then keys that are removed
-- ARGV   1 its expected value ('' = none)  2 its next value
--        3 milliseconds for which that stays ('' = for ever)
-- Reply  1, or 0 with nothing written when the value is another
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
for i = 2, #KEYS do redis.call('UNLINK', KEYS[i]) end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
