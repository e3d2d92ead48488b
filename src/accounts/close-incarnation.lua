-- Closes an account's keys for the incarnation to come, unless another process has gone on from there.
--
-- KEYS   1 incarnation, then the keys that writers check, which are removed, then the account's other keys
--        with fixed names
-- ARGV   1 its expected value ('' = none)  2 its next value  3 number of keys that are removed
-- Reply  0 with nothing written when the value is another; 1 when keys of a former account may remain; 2 when
--        there are none: the account is new, or its removal has come to its end. A removal sets the mark's
--        expiry as its last step.
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[1] then return 0 end
local ended = found == '' or (string.match(found, '^closed ') and redis.call('PTTL', KEYS[1]) > 0)
local is_clean = ended and redis.call('EXISTS', unpack(KEYS, 2)) == 0
redis.call('UNLINK', unpack(KEYS, 2, 1 + ARGV[3]))
redis.call('SET', KEYS[1], ARGV[2])
return is_clean and 2 or 1
