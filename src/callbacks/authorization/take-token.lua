-- Looks for the token of a subscription, and gives the turn to request one to one process at a time.
--
-- KEYS   1 access token  2 subscriptions
-- ARGV   1 subscription id  2 now (ms)  3 revision of the settings  4 name of this request
--        5 milliseconds of a turn  6 requested at (ms) of the token that the endpoint has refused ('' = none)
--        7 '1' = a rest after a failure does not hold, unless the token endpoint has asked for it
--        8 milliseconds between two replacements of refused tokens  9 number of them that may follow at once
-- Reply  'gone': there is no such subscription
--        'token', sealed, requested at, refresh at, usable until: may be sent
--        'request', failures in a row, then the token as above if there is one that may be sent meanwhile
--        'wait': another process requests one
--        'rest', failure (JSON), from and until (ms): the token endpoint is left alone
--        'bounded': refused tokens were replaced too often
local key, now, refused = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[6])
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then return { 'gone' } end
if redis.call('TYPE', key)['ok'] ~= 'hash' or redis.call('HGET', key, 'revision') ~= ARGV[3] then
  redis.call('UNLINK', key)
end
local found = redis.call('HMGET', key, 'sealed', 'requestedAt', 'refreshAt', 'usableUntil', 'heldUntil', 'failure',
  'restUntil', 'failures', 'forcedAt', 'asked', 'restFrom')
local function time_of(i) return tonumber(found[i] or '') or 0 end

local token = {}
if found[1] and now < time_of(4) and not (refused and time_of(2) <= refused) then
  token = { found[1], found[2], found[3], found[4] }
  if now < time_of(3) then return { 'token', unpack(token) } end
end
local turn, every, burst = tonumber(ARGV[5]), tonumber(ARGV[8]), tonumber(ARGV[9])
-- A time too far ahead is from before the clock was set back.
local held = now < time_of(5) and time_of(5) <= now + 2 * turn
if held then return #token > 0 and { 'token', unpack(token) } or { 'wait' } end
-- Clocks of processes differ a little; a rest that begins later is from before the clock was set back.
local rests = now + 2000 >= time_of(11) and now < time_of(7) and (ARGV[7] ~= '1' or found[10] == '1')
if rests then return #token > 0 and { 'token', unpack(token) } or { 'rest', found[6] or '', found[11] or '0', found[7] } end
if refused and #token == 0 then
  local due = time_of(9)
  if due < now or due > now + every * burst then due = now end
  if due + every > now + every * burst then return { 'bounded' } end
  redis.call('HSET', key, 'forcedAt', string.format('%d', due + every))
end
redis.call('HSET', key, 'revision', ARGV[3], 'holder', ARGV[4], 'heldUntil', string.format('%d', now + turn))
local lives = every * burst + turn
if redis.call('PTTL', key) < lives then redis.call('PEXPIRE', key, lives) end
return { 'request', string.format('%d', time_of(8)), unpack(token) }
