-- Finds those of some subscriptions for which anything waits: events, retries, replays, the end of a pause.
--
-- KEYS   1 lagging  2 head  3 subscriptions  4 resting
-- ARGV   1 now (ms)  2 the keys' common beginning of delivery states, then ids of subscriptions
-- Reply  ids of those that may need a drain now or later, without those that rest and are looked at again when
--        their rest is over
--
-- The delivery states share the account's hash tag with the keys that are named.
local now, head, found = tonumber(ARGV[1]), string.match(redis.call('GET', KEYS[2]) or '0', '^%d+') or '', {}

local function is_none(value) return not value or value == '0' or value == '' end

local function waits(id)
  local s = redis.pcall('HMGET', ARGV[2] .. id, 'enabled', 'cursor', 'done', 'parked', 'nextAttemptAt', 'pausedUntil',
    'release', 'replaying', 'settledAt', 'blocked')
  -- Another type, or a number that is none: the drain mends it.
  if s.err then return true end
  if s[1] == '0' then return false end
  for i = 3, 8 do
    if not is_none(s[i]) then return true end
  end
  return (s[2] or '0') ~= head or (tonumber(s[9] or '0') or math.huge) > now or s[10] and true
end

local function rests(id)
  local until_ms = redis.pcall('HGET', KEYS[4], id)
  local rest = type(until_ms) == 'string' and tonumber(until_ms) or 0
  if rest <= now then return false end
  local later = tonumber(redis.call('ZSCORE', KEYS[1], id) or '0')
  return now < later and later <= rest
end

for i = 3, #ARGV do
  if not rests(ARGV[i]) and redis.call('HEXISTS', KEYS[3], ARGV[i]) == 1 and waits(ARGV[i]) then found[#found + 1] = ARGV[i] end
end
return found
