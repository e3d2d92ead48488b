-- Gives turns to requests to one host. Turns are evenly spaced on Redis's clock, as by the generic cell rate
-- algorithm (ITU-T I.371) without a burst, so no second has more than its share, wherever it begins.
--
-- KEYS  1 the host's budget: `free`, when the next turn is, and `sweep`, when sweeps may have one all the same
-- ARGV  1 number of turns wanted  2 kind of request: 1 change, 2 sweep  3 turns in a window  4 its seconds
-- Reply the number of turns taken and the milliseconds until the first; or more turns than a window has, and
--       the milliseconds until a turn may be asked for again
local wanted, is_sweep, in_window = tonumber(ARGV[1]), ARGV[2] == '2', tonumber(ARGV[3])
local spacing = tonumber(ARGV[4]) * 1000 / in_window

-- Turns are taken ahead, so that replies and timers cost none; and not far ahead, because a process that ends
-- leaves its own unused. Sweeps take them only where changes leave room.
local near, far = 60 + spacing, 300 + 2 * spacing
-- The share of the turns that sweeps have in any case.
local sweep_share = 10

local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local stored = redis.pcall('HMGET', KEYS[1], 'free', 'sweep')
if stored.err then
  redis.call('DEL', KEYS[1])
  stored = {}
end
local free, sweep = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
-- Only a clock that was set back explains more than this.
local ahead_max = 10000 + 2 * sweep_share * spacing
if free > now + ahead_max then free = now + spacing end
if sweep > now + ahead_max then sweep = now end
if free < now then free = now end

local ahead = free - now
local limit = far
if is_sweep then
  if ahead > near and sweep <= now then wanted = 1 else limit = near end
end
local taken = math.min(wanted, in_window, math.floor((limit - ahead) / spacing) + 1)
if taken < 1 then
  local wait = ahead - limit
  if is_sweep then wait = math.min(ahead - near, math.max(sweep - now, ahead - far)) end
  return { in_window + 1, math.max(1, math.ceil(wait)) }
end

if is_sweep then sweep = now + sweep_share * spacing end
redis.call('HSET', KEYS[1], 'free', string.format('%.3f', free + taken * spacing), 'sweep', string.format('%.3f', sweep))
redis.call('PEXPIRE', KEYS[1], math.ceil(ahead + (taken + sweep_share) * spacing) + 1000)
return { taken, math.ceil(ahead) }
