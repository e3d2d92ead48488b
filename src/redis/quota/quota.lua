-- The bytes that an account stores through the API: its subscriptions, their replays, the registrations that
-- are remembered by their idempotency keys, its tokens, and what people noted of its filings. Each
-- record counts a little more than it takes.
--
-- The sum of all but the tokens and the notes is kept in a string for a day. Without it, or with one that is
-- no number, all records are counted again, so that no difference lasts longer than that.
local quota_kept_ms = 86400000
local token_bytes = 1024
local triage_bytes = 4608

local function subscription_bytes(length) return length + 256 end
local function registration_bytes(length) return length + 256 end
local function replay_bytes(length, request_length) return length + request_length + 512 end

-- The bytes of a replay in a subscription's hash of replays.
local function kept_replay_bytes(replays, id)
  return replay_bytes(redis.call('HSTRLEN', replays, id), redis.call('HSTRLEN', replays, id .. ':request'))
end

-- The bytes of all replays kept of a subscription; 0 if the key cannot be read.
local function kept_replays_bytes(replays)
  local kept, bytes = redis.pcall('HGET', replays, 'kept'), 0
  if type(kept) ~= 'string' then return 0 end
  for id in string.gmatch(kept, '%S+') do bytes = bytes + kept_replay_bytes(replays, id) end
  return bytes
end

local function count_stored(quota, subscriptions, registrations)
  local base = string.match(quota, '^(.*):')
  local bytes = 0
  for _, id in ipairs(redis.call('HKEYS', subscriptions)) do
    bytes = bytes + subscription_bytes(redis.call('HSTRLEN', subscriptions, id))
      + kept_replays_bytes(base .. ':sub:' .. id .. ':replays')
  end
  for _, member in ipairs(redis.call('ZRANGE', registrations, 0, -1)) do
    bytes = bytes + (tonumber(string.match(member, '%d+$')) or 0)
  end
  return bytes
end

-- Forgets registrations whose records have expired, a thousand at once.
local function drop_expired_registrations(quota, registrations)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local expired = redis.call('ZRANGEBYSCORE', registrations, '-inf', now, 'LIMIT', 0, 1000)
  if #expired == 0 then return now end
  local bytes = 0
  for _, member in ipairs(expired) do bytes = bytes + (tonumber(string.match(member, '%d+$')) or 0) end
  redis.call('ZREM', registrations, unpack(expired))
  redis.call('DECRBY', quota, bytes)
  return now
end

-- The number of records in a hash; 0 if the key cannot be read.
local function length_of(hash)
  local count = redis.pcall('HLEN', hash)
  return type(count) == 'number' and count or 0
end

-- The bytes that the account stores now, and the time in milliseconds.
local function stored_bytes(quota, subscriptions, registrations, tokens)
  local kept = redis.pcall('GET', quota)
  if type(kept) ~= 'string' or not string.match(kept, '^%d+$') then
    redis.call('DEL', quota)
    redis.call('SET', quota, string.format('%d', count_stored(quota, subscriptions, registrations)), 'PX', quota_kept_ms)
  end
  local now = drop_expired_registrations(quota, registrations)
  local triage = string.match(quota, '^(.*):') .. ':triage'
  return tonumber(redis.call('GET', quota)) + token_bytes * length_of(tokens) + triage_bytes * length_of(triage), now
end
