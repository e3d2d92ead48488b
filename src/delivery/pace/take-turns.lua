-- Gives a drain turns for attempts at a subscription with a rate. Turns are evenly spaced on Redis's clock,
-- as by the generic cell rate algorithm (ITU-T I.371) without a burst, so no second has more than the rate,
-- wherever it begins and whichever processes send.
--
-- KEYS  1 subscriptions  2 delivery state  3 resting
-- ARGV  1 subscription id  2 epoch of the drain  3 number of turns wanted  4 milliseconds between two turns
--       5 maximum milliseconds for which turns are taken ahead
--       6 version of the settings, or '': with no turn wanted the subscription rests until the next one, so
--         that no new event wakes it, if that is still the version
--       7 milliseconds by which the attempts at the last turns were late: the next turn is as much later
-- Reply the number of turns taken and the milliseconds until the first of them; 0 and the milliseconds until
--       the next one; or { -1 } when another drain has begun, or the subscription is gone or disabled
local id, wanted, spacing, ahead_max = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local state = redis.call('HMGET', KEYS[2], 'epoch', 'enabled', 'turn', 'version')
if state[1] ~= ARGV[2] or state[2] == '0' or redis.call('HEXISTS', KEYS[1], id) == 0 then return { -1 } end

local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
-- When the last turn was. Turns are not taken further ahead than that: only a clock that was set back
-- explains more. The time that counts instead is written, so that the turns after it are counted from there,
-- also where none is free yet.
local last = tonumber(state[3] or '') or 0
if last > now + ahead_max + 1000 then
  last = now
  redis.call('HSET', KEYS[2], 'turn', string.format('%.3f', last))
end

local late = tonumber(ARGV[7])
if late > 0 and last < now then
  last = math.min(last + late, now)
  redis.call('HSET', KEYS[2], 'turn', string.format('%.3f', last))
end

local first = math.max(now, last + spacing)
local wait = first - now
local taken = math.min(wanted, math.floor((ahead_max - wait) / spacing) + 1)
if taken < 1 then
  if wanted == 0 and ARGV[6] == '' then return { 0, math.ceil(wait) } end
  redis.call('HSET', KEYS[2], 'throttledUntil', string.format('%.0f', first))
  if wanted == 0 and (state[4] or '0') == ARGV[6] then redis.call('HSET', KEYS[3], id, string.format('%.0f', first)) end
  return { 0, math.ceil(wait) }
end
local turn = first + (taken - 1) * spacing
redis.call('HSET', KEYS[2], 'turn', string.format('%.3f', turn))
local waits_until = taken < wanted and turn + spacing or turn
if waits_until > now then redis.call('HSET', KEYS[2], 'throttledUntil', string.format('%.0f', waits_until)) end
return { taken, math.ceil(wait) }
