-- Adds a token.
--
-- KEYS   1 tokens  2 incarnation
-- ARGV   1 id  2 token (JSON)  3 id of the token that makes it ('' = the operator's)  4 maximum number of an
--       account
-- Reply  'added', 'gone' when the account is removed, 'revoked' when the token that makes it is, or 'full'
--       when there
--        are as many as may be; then nothing was written
if string.match(redis.call('GET', KEYS[2]) or '', '^closed ') then return 'gone' end
if ARGV[3] ~= '' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return 'revoked' end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 'full' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'added'
