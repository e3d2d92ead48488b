-- Adds a token.
--
-- KEYS   1 tokens  2 incarnation
-- ARGV   1 id  2 token (JSON)  3 id of the token that makes it ('' = the operator's)  4 maximum number of an
--       account  5 now
-- Reply  'added', 'gone' when the account is removed, 'revoked' when the token that makes it is, or 'full'
--       when there
--        are as many as may be; then nothing was written
if string.match(redis.call('GET', KEYS[2]) or '', '^closed ') then return 'gone' end
if ARGV[3] ~= '' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return 'revoked' end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then
  -- Links are made by the day, so expired ones make way.
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    local ends = tonumber(string.match(all[i + 1], '"expiresAt":(%d+)'))
    if ends and ends <= tonumber(ARGV[5]) and string.find(all[i + 1], '"link":true', 1, true) then
      redis.call('HDEL', KEYS[1], all[i])
    end
  end
  if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 'full' end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'added'
