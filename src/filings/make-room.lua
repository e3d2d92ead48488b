-- Makes room for the notes on further filings of an account.
--
-- KEYS   1 triage  2 filings  3 quota  4 subscriptions  5 registrations  6 tokens  7 incarnation
-- ARGV   1 number of further filings  2 maximum number of records  3 maximum bytes of an account
-- Reply  number of further filings that there is room for. A removed account has
--        room, because the commit is refused. If there is not enough, records of filings that
--        are COMPLETED, removed or unknown are deleted, a thousand at most.
-- @include ../redis/quota/quota.lua
if string.match(redis.call('GET', KEYS[7]) or '', '^closed ') then return tonumber(ARGV[1]) end
local triage, filings, wanted = KEYS[1], KEYS[2], tonumber(ARGV[1])

local function is_over(id)
  local is_read, state = pcall(cjson.decode, redis.call('HGET', filings, id) or '')
  return not is_read or type(state) ~= 'table' or state[2] == 'C' or state[9] == 1
end

local function room()
  local left = tonumber(ARGV[3]) - stored_bytes(KEYS[3], KEYS[4], KEYS[5], KEYS[6])
  return math.min(wanted, tonumber(ARGV[2]) - redis.call('HLEN', triage), math.floor(left / triage_bytes))
end

if room() < wanted then
  for _, id in ipairs(redis.call('HRANDFIELD', triage, 1000)) do
    if is_over(id) then redis.call('HDEL', triage, id) end
  end
end
return math.max(0, room())
