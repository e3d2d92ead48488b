-- Adds a session. Sessions that have ended are dropped first; then the oldest session of the same token if
-- that has its maximum number, or else the oldest of all.
--
-- KEYS   1 sessions; for a session of an account also 2 tokens  3 incarnation
-- ARGV   1 id  2 session (JSON)  3 id of its token ('' = the operator's)  4 now
--        5 milliseconds without use after which a session ends  6 maximum number of one token
--        7 maximum number of all  8 milliseconds after which the newest session ends
-- Reply  'added', or 'revoked' when the account or the token is gone; then nothing was written
local sessions, token, now = KEYS[1], ARGV[3], tonumber(ARGV[4])
if token ~= '' then
  if string.match(redis.call('GET', KEYS[3]) or '', '^closed ') then return 'revoked' end
  if redis.call('HEXISTS', KEYS[2], token) == 0 then return 'revoked' end
end

local ended, all, own = {}, {}, {}
local stored = redis.call('HGETALL', sessions)
for i = 1, #stored, 2 do
  local created = tonumber(string.match(stored[i + 1], '"createdAt":(%d+)'))
  local used = tonumber(string.match(stored[i + 1], '"usedAt":(%d+)'))
  local ends = tonumber(string.match(stored[i + 1], '"endsAt":(%d+)'))
  if not created or not used or not ends or ends <= now or used + tonumber(ARGV[5]) <= now then
    ended[#ended + 1] = stored[i]
  else
    local session = { id = stored[i], created = created }
    all[#all + 1] = session
    if token ~= '' and string.match(stored[i + 1], '"token":"([^"]+)"') == token then own[#own + 1] = session end
  end
end

local function oldest(list)
  table.sort(list, function(a, b) return a.created < b.created end)
  return list[1].id
end
if #own >= tonumber(ARGV[6]) then
  ended[#ended + 1] = oldest(own)
elseif #all >= tonumber(ARGV[7]) then
  ended[#ended + 1] = oldest(all)
end
if #ended > 0 then redis.call('HDEL', sessions, unpack(ended)) end
redis.call('HSET', sessions, ARGV[1], ARGV[2])
redis.call('PEXPIRE', sessions, ARGV[8])
return 'added'
